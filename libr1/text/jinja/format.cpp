// Python's two ways of formatting strings, as far as chat templates use them.
#include <fmt/format.h>

#include <algorithm>

#include <charconv>
#include <cmath>

#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {
namespace {

constexpr int kWidthMax = 1000;

/// %[flags][width][.precision]conversion
struct Conversion {
  bool left = false;
  bool zero = false;
  bool sign = false;
  int width = 0;
  int precision = -1;
  std::string key;
  char type = 's';
};

class Percent {
 public:
  Percent(Runtime& runtime, const Text& format, const Value& values)
      : runtime_(runtime), format_(format), bytes_(format.bytes()), values_(values) {
    const Object* object = values.as_object();
    tuple_ = object != nullptr && object->kind == ObjectKind::tuple ? object : nullptr;
  }

  Text run() {
    while (at_ < bytes_.size()) {
      const std::size_t percent = std::min(bytes_.find('%', at_), bytes_.size());
      out_.append(format_, at_, percent);
      at_ = percent;
      if (at_ < bytes_.size()) conversion();
    }
    const Object* object = values_.as_object();
    const bool mapping = object != nullptr && object->is_mapping();
    if (!mapping && next_ < (tuple_ != nullptr ? tuple_->values.size() : 1)) {
      runtime_.fail("not all arguments converted during string formatting");
    }
    return std::move(out_);
  }

 private:
  int number() {
    int value = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
      value = value * 10 + (bytes_[at_] - '0');
      if (value > kWidthMax) runtime_.unsupported("a format width above 1000");
    }
    return value;
  }

  Conversion parse() {
    Conversion c;
    ++at_;
    if (at_ < bytes_.size() && bytes_[at_] == '(') {
      const std::size_t close = bytes_.find(')', at_);
      if (close == std::string::npos) runtime_.fail("incomplete format key");
      c.key = bytes_.substr(at_ + 1, close - at_ - 1);
      at_ = close + 1;
    }
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '-')
        c.left = true;
      else if (bytes_[at_] == '0')
        c.zero = true;
      else if (bytes_[at_] == '+')
        c.sign = true;
      else
        break;
    }
    c.width = number();
    if (at_ < bytes_.size() && bytes_[at_] == '.') {
      ++at_;
      c.precision = number();
    }
    if (at_ >= bytes_.size()) runtime_.fail("incomplete format");
    c.type = bytes_[at_++];
    return c;
  }

  Value argument(const Conversion& c) {
    if (!c.key.empty()) {
      const Object* object = values_.as_object();
      const Value* found = object != nullptr ? object->find(text_tag(c.key)) : nullptr;
      if (found == nullptr) runtime_.fail(fmt::format("format: no value for '{}'", c.key));
      return *found;
    }
    const std::size_t at = next_++;
    if (tuple_ != nullptr && at < tuple_->values.size()) return tuple_->values[at];
    if (tuple_ == nullptr && at == 0) return values_;
    runtime_.fail("not enough arguments for format string");
  }

  std::string numeric(const Conversion& c, const Value& value) {
    if (!value.is_numeric()) {
      runtime_.fail(
          fmt::format("%{} format: a number is required, not {}", c.type, type_name(value)));
    }
    const char* const plus = c.sign ? "+" : "";
    if (c.type == 'd' || c.type == 'i') {
      const double number = value.as_number();
      if (!value.is_integral() && !(std::fabs(number) < 9e18))
        runtime_.fail("%d format: out of range");
      const std::int64_t whole =
          value.is_integral() ? value.as_integer() : static_cast<std::int64_t>(number);
      return fmt::format("{}{}", whole >= 0 ? plus : "", whole);
    }
    if (c.type == 'x') {
      if (!value.is_integral()) runtime_.fail("%x format: an integer is required");
      return fmt::format("{:x}", value.as_integer());
    }
    const double number = value.as_number();
    const int precision = c.precision < 0 ? 6 : c.precision;
    const std::string text = c.type == 'f'   ? fmt::format("{:.{}f}", number, precision)
                             : c.type == 'e' ? fmt::format("{:.{}e}", number, precision)
                                             : fmt::format("{:.{}g}", number, precision);
    return (text[0] == '-' ? "" : plus) + text;
  }

  void conversion() {
    const Conversion c = parse();
    if (c.type == '%') return out_.append("%", format_.author_at(at_ - 1));
    if (std::string_view("sdifegx").find(c.type) == std::string_view::npos) {
      runtime_.unsupported(fmt::format("format conversion with type byte 0x{:02x}",
                                       static_cast<unsigned char>(c.type)));
    }
    Text text;
    if (c.type == 's') {
      text = to_text(runtime_, argument(c));
      if (c.precision >= 0) runtime_.unsupported("a precision with %s");
    } else {
      text = Text(numeric(c, argument(c)), Author::conversation);
    }
    const auto length =
        static_cast<int>(runtime_.length(Value::text(std::make_shared<const Text>(text))));
    const std::string padding(static_cast<std::size_t>(std::max(0, c.width - length)), ' ');
    if (c.zero && !c.left && c.type != 's') {
      const bool signed_text = !text.empty() && (text.bytes()[0] == '-' || text.bytes()[0] == '+');
      out_.append(text, 0, signed_text ? 1 : 0);
      out_.append(std::string(padding.size(), '0'), Author::conversation);
      return out_.append(text, signed_text ? 1 : 0, text.size());
    }
    if (!c.left) out_.append(padding, Author::conversation);
    out_.append(text);
    if (c.left) out_.append(padding, Author::conversation);
  }

  Runtime& runtime_;
  const Text& format_;
  const std::string& bytes_;
  const Value& values_;
  const Object* tuple_ = nullptr;
  Text out_;
  std::size_t at_ = 0;
  std::size_t next_ = 0;
};

}  // namespace

Text format_percent(Runtime& runtime, const Text& format, const Value& values) {
  runtime.budget.work(format.size());
  return Percent(runtime, format, values).run();
}

Text format_braces(Runtime& runtime, const Text& format, const Arguments& arguments) {
  const std::string& bytes = format.bytes();
  runtime.budget.work(bytes.size());
  Text out;
  std::size_t automatic = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
    out.append(format, at, brace);
    if (brace == bytes.size()) break;
    if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
      out.append(format, brace, brace + 1);
      at = brace + 2;
      continue;
    }
    const std::size_t close = bytes.find('}', brace);
    if (bytes[brace] == '}' || close == std::string::npos) {
      runtime.fail("format: single brace in format string");
    }
    const std::string field = bytes.substr(brace + 1, close - brace - 1);
    if (field.find_first_of(":!.[") != std::string::npos) {
      runtime.unsupported("format field with a specification or attribute");
    }
    std::size_t position = automatic;
    const auto read = std::from_chars(field.data(), field.data() + field.size(), position);
    const Value* value = nullptr;
    if (field.empty() || (read.ec == std::errc() && read.ptr == field.data() + field.size())) {
      if (field.empty()) ++automatic;
      if (position < arguments.positional.size()) value = &arguments.positional[position];
    } else {
      for (const auto& [name, named] : arguments.named) {
        if (name == field) value = &named;
      }
    }
    if (value == nullptr) runtime.fail("format: no argument for a field");
    out.append(to_text(runtime, *value));
    at = close + 1;
  }
  return out;
}

}  // namespace r1::text::jinja
