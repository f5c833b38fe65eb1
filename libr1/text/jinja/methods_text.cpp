// Methods of strings.
#include <fmt/format.h>

#include <algorithm>

#include "libr1/text/jinja/operators.hpp"
#include "libr1/text/jinja/text_tools.hpp"
#include "libr1/text/jinja/utf8.hpp"

namespace r1::text::jinja {
namespace {

template <Ends Where>
Value stripped(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "strip", arguments);
  const Text* characters = args.text("chars");
  args.finish();
  return runtime.text(strip(self.as_text(), characters, Where));
}

template <bool FromRight>
Value separated(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "split", arguments);
  const Text* separator = args.text("sep");
  const std::int64_t most = args.integer("maxsplit", -1);
  args.finish();
  std::vector<Value> parts;
  for (Text& part : split(runtime, self.as_text(), separator, most, FromRight)) {
    parts.push_back(runtime.text(std::move(part)));
  }
  return runtime.sequence(std::move(parts));
}

template <Text (*Function)(const Text&)>
Value changed(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "string method", arguments).finish();
  runtime.budget.work(self.as_text().size());
  return runtime.text(Function(self.as_text()));
}

/// startswith and endswith; a tuple asks for any of its strings.
template <bool AtEnd>
Value affixed(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, AtEnd ? "endswith" : "startswith", arguments);
  const Value& affix = args.required("affix");
  args.finish();
  const Object* object = affix.as_object();
  const bool tuple = object != nullptr && object->kind == ObjectKind::tuple;
  const std::vector<Value> candidates = tuple ? object->values : std::vector<Value>{affix};
  const std::string& bytes = self.as_text().bytes();
  for (const Value& candidate : candidates) {
    if (!candidate.is_text()) {
      runtime.fail(fmt::format("{}: expected a string, got '{}'", AtEnd ? "endswith" : "startswith",
                               type_name(candidate)));
    }
    const std::string& part = candidate.as_text().bytes();
    if (part.size() > bytes.size()) continue;
    if (bytes.compare(AtEnd ? bytes.size() - part.size() : 0, part.size(), part) == 0) {
      return Value::boolean(true);
    }
  }
  return Value::boolean(false);
}

Value text_replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "replace", arguments);
  const Text& old_text = args.required_text("old");
  const Text& new_text = args.required_text("new");
  const std::int64_t count = args.integer("count", -1);
  args.finish();
  return runtime.text(replace(runtime, self.as_text(), old_text, new_text, count));
}

Value text_join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "join", arguments);
  const Value& items = args.required("iterable");
  args.finish();
  Text out;
  bool first = true;
  for (const Value& item : runtime.iterate(items)) {
    if (!item.is_text()) {
      runtime.fail(fmt::format("join: expected strings, got '{}'", type_name(item)));
    }
    if (!first) out.append(self.as_text());
    out.append(item.as_text());
    first = false;
  }
  return runtime.text(std::move(out));
}

/// find, rfind and index: positions are characters.
template <bool FromRight, bool MustExist>
Value found(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "find", arguments);
  const Text& needle = args.required_text("sub");
  const std::int64_t start = args.integer("start", 0);
  args.finish();
  if (start != 0) runtime.unsupported("find with a start");
  const std::string& bytes = self.as_text().bytes();
  runtime.budget.work(bytes.size());
  const std::size_t hit =
      FromRight ? bytes.rfind(needle.bytes()) : find_bytes(bytes, needle.bytes(), 0);
  if (hit == std::string::npos && MustExist) runtime.fail("index: substring not found");
  if (hit == std::string::npos) return Value::integer(-1);
  const auto before = count_code_points(std::string_view(bytes).substr(0, hit));
  return Value::integer(static_cast<std::int64_t>(before));
}

Value text_count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "count", arguments);
  const Text& needle = args.required_text("sub");
  args.finish();
  if (needle.empty()) return Value::integer(runtime.length(self) + 1);
  const auto parts = split(runtime, self.as_text(), &needle, -1, false);
  return Value::integer(static_cast<std::int64_t>(parts.size()) - 1);
}

Value text_splitlines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "splitlines", arguments);
  const bool keep_ends = args.flag("keepends", false);
  args.finish();
  runtime.budget.work(self.as_text().size());
  std::vector<Value> lines;
  for (Text& line : split_lines(self.as_text(), keep_ends)) {
    lines.push_back(runtime.text(std::move(line)));
  }
  return runtime.sequence(std::move(lines));
}

Value text_format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return runtime.text(format_braces(runtime, self.as_text(), arguments));
}

template <bool Suffix>
Value removed(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "removeprefix", arguments);
  const std::string& part = args.required_text("affix").bytes();
  args.finish();
  const Text& text = self.as_text();
  if (part.size() > text.size()) return self;
  const std::size_t at = Suffix ? text.size() - part.size() : 0;
  if (text.bytes().compare(at, part.size(), part) != 0) return self;
  return runtime.text(Suffix ? text.slice(0, at) : text.slice(part.size(), text.size()));
}

/// isdigit, isalpha and the like, for ASCII; other characters are not decided here.
template <int (*Class)(int)>
Value classified(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "string method", arguments).finish();
  const std::string& bytes = self.as_text().bytes();
  for (const char c : bytes) {
    if (static_cast<unsigned char>(c) >= 0x80) runtime.unsupported("this method on non-ASCII text");
    if (Class(c) == 0) return Value::boolean(false);
  }
  return Value::boolean(!bytes.empty());
}

int ascii_digit(int c) { return c >= '0' && c <= '9' ? 1 : 0; }
int ascii_alpha(int c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? 1 : 0; }
int ascii_alnum(int c) { return ascii_digit(c) + ascii_alpha(c); }
int ascii_space(int c) { return is_space(static_cast<char32_t>(c)) ? 1 : 0; }

struct Method {
  std::string_view name;
  Native native;
};

constexpr Method kMethods[] = {
    {"strip", stripped<Ends::both>},
    {"lstrip", stripped<Ends::left>},
    {"rstrip", stripped<Ends::right>},
    {"split", separated<false>},
    {"rsplit", separated<true>},
    {"splitlines", text_splitlines},
    {"startswith", affixed<false>},
    {"endswith", affixed<true>},
    {"replace", text_replace},
    {"upper", changed<upper>},
    {"lower", changed<lower>},
    {"title", changed<title>},
    {"capitalize", changed<capitalize>},
    {"join", text_join},
    {"find", found<false, false>},
    {"rfind", found<true, false>},
    {"index", found<false, true>},
    {"count", text_count},
    {"format", text_format},
    {"removeprefix", removed<false>},
    {"removesuffix", removed<true>},
    {"isdigit", classified<ascii_digit>},
    {"isnumeric", classified<ascii_digit>},
    {"isdecimal", classified<ascii_digit>},
    {"isalpha", classified<ascii_alpha>},
    {"isalnum", classified<ascii_alnum>},
    {"isspace", classified<ascii_space>},
};

}  // namespace

Native find_text_method(std::string_view name) {
  const auto* const method = std::find_if(std::begin(kMethods), std::end(kMethods),
                                          [&](const Method& m) { return m.name == name; });
  return method == std::end(kMethods) ? nullptr : method->native;
}

}  // namespace r1::text::jinja
