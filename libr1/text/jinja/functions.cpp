// Global functions: range, namespace, dict, raise_exception, strftime_now.
#include <fmt/format.h>

#include <array>

#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {
namespace {

/// Jinja's sandbox has the same bound.
constexpr std::int64_t kRangeMax = 100'000;

Value range(Runtime& runtime, const Value&, const Arguments& arguments) {
  ArgumentReader args(runtime, "range", arguments);
  if (arguments.positional.empty()) runtime.fail("range: expected at least 1 argument, got 0");
  std::int64_t start = args.integer("start", 0);
  std::int64_t stop = args.integer("stop", 0);
  const std::int64_t step = args.integer("step", 1);
  args.finish();
  if (arguments.positional.size() == 1) {
    stop = start;
    start = 0;
  }
  if (step == 0) runtime.fail("range: step must not be zero");
  std::vector<Value> numbers;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (numbers.size() >= static_cast<std::size_t>(kRangeMax)) {
      runtime.fail(fmt::format("range: expected at most {} numbers, got more", kRangeMax));
    }
    numbers.push_back(Value::integer(i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return runtime.sequence(std::move(numbers));
}

void add_all(Runtime& runtime, Object& object, const Arguments& arguments, const char* function) {
  if (arguments.positional.size() > 1) {
    runtime.fail(fmt::format("{}: expected at most 1 positional argument", function));
  }
  for (const Value& source : arguments.positional) {
    const Object* from = source.as_object();
    if (from == nullptr) runtime.fail(fmt::format("{}: expected a dict", function));
    if (from->is_sequence()) {
      for (const Value& pair : from->values) {
        const std::vector<Value> parts = runtime.iterate(pair);
        if (parts.size() != 2) runtime.fail(fmt::format("{}: expected pairs", function));
        runtime.set(object, parts[0], parts[1]);
      }
    } else {
      for (std::size_t i = 0; i < from->keys.size(); ++i) {
        runtime.set(object, from->keys[i], from->values[i]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) {
    runtime.set(object, runtime.text(name, Author::template_file), value);
  }
}

Value make_namespace(Runtime& runtime, const Value&, const Arguments& arguments) {
  ObjectPtr object = runtime.make(ObjectKind::name_space);
  add_all(runtime, *object, arguments, "namespace");
  return Value::object(std::move(object));
}

Value make_dict(Runtime& runtime, const Value&, const Arguments& arguments) {
  ObjectPtr object = runtime.make(ObjectKind::dict);
  add_all(runtime, *object, arguments, "dict");
  return Value::object(std::move(object));
}

Value raise_exception(Runtime& runtime, const Value&, const Arguments& arguments) {
  ArgumentReader args(runtime, "raise_exception", arguments);
  const std::string message = to_text(runtime, args.required("message")).bytes();
  args.finish();
  runtime.fail("the template says: " + message);
}

constexpr std::array<const char*, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                              "Thursday", "Friday", "Saturday"};
constexpr std::array<const char*, 12> kMonths = {"January",   "February", "March",    "April",
                                                 "May",       "June",     "July",     "August",
                                                 "September", "October",  "November", "December"};

/// One conversion of strftime in the C locale, whatever the process's locale is. Empty: not known.
std::string time_field(const std::tm& t, char conversion) {
  const auto name = [](const auto& names, int i) {
    return std::string(names.at(static_cast<std::size_t>(i) % names.size()));
  };
  const int hour12 = t.tm_hour % 12 == 0 ? 12 : t.tm_hour % 12;
  switch (conversion) {
    case 'Y':
      return fmt::format("{}", t.tm_year + 1900);
    case 'y':
      return fmt::format("{:02}", t.tm_year % 100);
    case 'm':
      return fmt::format("{:02}", t.tm_mon + 1);
    case 'd':
      return fmt::format("{:02}", t.tm_mday);
    case 'e':
      return fmt::format("{:2}", t.tm_mday);
    case 'H':
      return fmt::format("{:02}", t.tm_hour);
    case 'I':
      return fmt::format("{:02}", hour12);
    case 'M':
      return fmt::format("{:02}", t.tm_min);
    case 'S':
      return fmt::format("{:02}", t.tm_sec);
    case 'p':
      return t.tm_hour < 12 ? "AM" : "PM";
    case 'j':
      return fmt::format("{:03}", t.tm_yday + 1);
    case 'w':
      return fmt::format("{}", t.tm_wday);
    case 'A':
      return name(kDays, t.tm_wday);
    case 'a':
      return name(kDays, t.tm_wday).substr(0, 3);
    case 'B':
      return name(kMonths, t.tm_mon);
    case 'b':
      return name(kMonths, t.tm_mon).substr(0, 3);
    case 'F':
      return time_field(t, 'Y') + "-" + time_field(t, 'm') + "-" + time_field(t, 'd');
    case 'T':
      return time_field(t, 'H') + ":" + time_field(t, 'M') + ":" + time_field(t, 'S');
    case '%':
      return "%";
    default:
      return {};
  }
}

Value strftime_now(Runtime& runtime, const Value&, const Arguments& arguments) {
  ArgumentReader args(runtime, "strftime_now", arguments);
  const std::string format = args.required_text("format").bytes();
  args.finish();
  const std::tm now = runtime.now ? runtime.now() : std::tm{};
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    if (++i >= format.size()) runtime.fail("strftime_now: the format ends with %");
    const std::string field = time_field(now, format[i]);
    if (field.empty()) runtime.unsupported(fmt::format("strftime_now conversion %{}", format[i]));
    out += field;
  }
  return runtime.text(out, Author::conversation);
}

}  // namespace

Native find_function(std::string_view name) {
  if (name == "range") return range;
  if (name == "namespace") return make_namespace;
  if (name == "dict") return make_dict;
  if (name == "raise_exception") return raise_exception;
  if (name == "strftime_now") return strftime_now;
  return nullptr;
}

}  // namespace r1::text::jinja
