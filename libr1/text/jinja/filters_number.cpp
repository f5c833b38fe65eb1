// Filters that make or change numbers: int, float, abs, round.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "libr1/text/jinja/text_tools.hpp"

namespace r1::text::jinja {
namespace {

/// Digits as Python's int() and float() take them: trimmed, single underscores between digits.
std::optional<std::string> cleaned(const Text& text) {
  const std::string bytes = strip(text, nullptr, Ends::both).bytes();
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != '_') {
      out.push_back(bytes[i]);
      continue;
    }
    const auto digit = [&](std::size_t at) {
      return at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9';
    };
    if (i == 0 || !digit(i - 1) || !digit(i + 1)) return std::nullopt;
  }
  if (!out.empty() && out[0] == '+') out.erase(0, 1);
  if (!out.empty() && out[0] == '+') return std::nullopt;
  return out;
}

std::optional<double> to_number(const Value& value) {
  if (value.is_numeric()) return value.as_number();
  if (!value.is_text()) return std::nullopt;
  const auto text = cleaned(value.as_text());
  if (!text) return std::nullopt;
  double number = 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  // from_chars leaves out-of-range values unset; Python gives inf or 0.
  if (read.ec == std::errc::result_out_of_range && read.ptr == end) {
    const bool tiny =
        text->find("e-") != std::string::npos || text->find("E-") != std::string::npos;
    return tiny ? 0.0 : ((*text)[0] == '-' ? -HUGE_VAL : HUGE_VAL);
  }
  if (read.ec != std::errc() || read.ptr != end || text->empty()) return std::nullopt;
  return number;
}

Value filter_int(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "int", arguments);
  const Value* fallback = args.take("default");
  const std::int64_t base = args.integer("base", 10);
  args.finish();
  if (self.is_undefined()) runtime.fail(self.hint());
  if (self.is_integral()) return Value::integer(self.as_integer());
  if (self.is_text()) {
    if (base < 2 || base > 36) runtime.unsupported("int with this base");
    auto text = cleaned(self.as_text());
    if (text && base != 10) {
      const std::string prefix = text->substr(0, 2);
      const bool prefixed = (base == 16 && (prefix == "0x" || prefix == "0X")) ||
                            (base == 8 && (prefix == "0o" || prefix == "0O")) ||
                            (base == 2 && (prefix == "0b" || prefix == "0B"));
      if (prefixed) text->erase(0, 2);
    }
    if (text) {
      std::int64_t number = 0;
      const char* const end = text->data() + text->size();
      const auto read = std::from_chars(text->data(), end, number, static_cast<int>(base));
      if (read.ec == std::errc() && read.ptr == end) return Value::integer(number);
    }
  }
  const std::optional<double> number = to_number(self);
  if (number && std::isfinite(*number)) {
    if (std::fabs(*number) > 9e18) runtime.fail("int: the number is too large");
    return Value::integer(static_cast<std::int64_t>(*number));
  }
  return fallback != nullptr ? *fallback : Value::integer(0);
}

Value filter_float(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "float", arguments);
  const Value* fallback = args.take("default");
  args.finish();
  if (self.is_undefined()) runtime.fail(self.hint());
  if (const auto number = to_number(self)) return Value::number(*number);
  return fallback != nullptr ? *fallback : Value::number(0);
}

Value filter_abs(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader(runtime, "abs", arguments).finish();
  if (!self.is_numeric()) {
    runtime.fail(self.is_undefined()
                     ? self.hint()
                     : fmt::format("abs: expected a number, got '{}'", type_name(self)));
  }
  if (!self.is_integral()) return Value::number(std::fabs(self.as_number()));
  if (self.as_integer() == INT64_MIN) runtime.fail("abs: integer overflow");
  return Value::integer(std::llabs(self.as_integer()));
}

Value filter_round(Runtime& runtime, const Value& self, const Arguments& arguments) {
  ArgumentReader args(runtime, "round", arguments);
  const std::int64_t precision = args.integer("precision", 0);
  const Text* given = args.text("method");
  args.finish();
  const std::string method = given != nullptr ? given->bytes() : "common";
  if (!self.is_numeric()) {
    runtime.fail(self.is_undefined()
                     ? self.hint()
                     : fmt::format("round: expected a number, got '{}'", type_name(self)));
  }
  if (precision < -15 || precision > 15) runtime.unsupported("round with this precision");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  if (method == "floor") return Value::number(std::floor(self.as_number() * scale) / scale);
  if (method == "ceil") return Value::number(std::ceil(self.as_number() * scale) / scale);
  if (method != "common") runtime.fail("round: method must be common, ceil or floor");
  if (self.is_integral() && precision >= 0) return Value::integer(self.as_integer());
  if (precision < 0) {
    const double rounded = std::nearbyint(self.as_number() * scale) / scale;
    return self.is_integral() ? Value::integer(static_cast<std::int64_t>(rounded))
                              : Value::number(rounded);
  }
  // Correctly rounded decimal digits, ties to even of the exact binary value, as Python's round.
  const std::string text = fmt::format("{:.{}f}", self.as_number(), precision);
  double rounded = self.as_number();
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return Value::number(rounded);
}

}  // namespace

Native find_number_filter(std::string_view name) {
  if (name == "int") return filter_int;
  if (name == "float") return filter_float;
  if (name == "abs") return filter_abs;
  if (name == "round") return filter_round;
  return nullptr;
}

}  // namespace r1::text::jinja
