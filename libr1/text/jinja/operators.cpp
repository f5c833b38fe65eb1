// Arithmetic, comparison and slices as Python computes them; integers are 64-bit and overflow is an
// error.
#include "libr1/text/jinja/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libr1/text/jinja/utf8.hpp"

namespace r1::text::jinja {
namespace {

const char* symbol(Operator op) {
  switch (op) {
    case Operator::plus:
    case Operator::add:
      return "+";
    case Operator::negate:
    case Operator::subtract:
      return "-";
    case Operator::multiply:
      return "*";
    case Operator::divide:
      return "/";
    case Operator::floor_divide:
      return "//";
    case Operator::modulo:
      return "%";
    case Operator::power:
      return "**";
    default:
      return "?";
  }
}

std::int64_t integer_power(Runtime& runtime, std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  // 1, 0 and -1 never overflow, whatever the exponent is.
  if (base >= -1 && base <= 1) exponent = exponent == 0 ? 0 : 2 - exponent % 2;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) runtime.fail("integer overflow in **");
  }
  return result;
}

Value integer_arithmetic(Runtime& runtime, Operator op, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Operator::add:
      overflow = __builtin_add_overflow(left, right, &result);
      break;
    case Operator::subtract:
      overflow = __builtin_sub_overflow(left, right, &result);
      break;
    case Operator::multiply:
      overflow = __builtin_mul_overflow(left, right, &result);
      break;
    case Operator::power:
      result = integer_power(runtime, left, right);
      break;
    case Operator::floor_divide:
    case Operator::modulo: {
      if (right == 0) runtime.fail("division by zero");
      if (right == -1) {
        overflow = op == Operator::floor_divide && __builtin_sub_overflow(0, left, &result);
        break;
      }
      std::int64_t quotient = left / right;
      std::int64_t remainder = left % right;
      if (remainder != 0 && (remainder < 0) != (right < 0)) {
        --quotient;
        remainder += right;
      }
      result = op == Operator::modulo ? remainder : quotient;
      break;
    }
    default:
      break;
  }
  if (overflow) runtime.fail(fmt::format("integer overflow in {}", symbol(op)));
  return Value::integer(result);
}

Value number_arithmetic(Runtime& runtime, Operator op, double left, double right) {
  const bool divides =
      op == Operator::divide || op == Operator::floor_divide || op == Operator::modulo;
  if (divides && right == 0) runtime.fail("division by zero");
  switch (op) {
    case Operator::add:
      return Value::number(left + right);
    case Operator::subtract:
      return Value::number(left - right);
    case Operator::multiply:
      return Value::number(left * right);
    case Operator::divide:
      return Value::number(left / right);
    case Operator::floor_divide:
      return Value::number(std::floor(left / right));
    case Operator::modulo: {
      const double remainder = std::fmod(left, right);
      const bool adjust = remainder != 0 && (remainder < 0) != (right < 0);
      return Value::number(adjust ? remainder + right : remainder);
    }
    case Operator::power: {
      const double result = std::pow(left, right);
      if (!std::isfinite(result)) runtime.fail("result of ** is out of range");
      return Value::number(result);
    }
    default:
      return Value::number(0);
  }
}

Value repeated(Runtime& runtime, const Value& value, std::int64_t count) {
  const auto times = static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
  if (value.is_text()) {
    const Text& text = value.as_text();
    Text out;
    if (text.empty()) return value;
    // One more than fits, so that too many end in the text's own bound.
    const std::size_t most = std::min(times, kTextBytesMax / text.size() + 1);
    runtime.budget.work(most * text.size());
    for (std::size_t i = 0; i < most; ++i) out.append(text);
    return runtime.text(std::move(out));
  }
  ObjectPtr list = runtime.make(value.as_object()->kind);
  const std::vector<Value> items = value.as_object()->values;
  for (std::size_t i = 0; i < (items.empty() ? 0 : times); ++i) {
    runtime.budget.step(items.size());
    for (const Value& item : items) list->push(item);
  }
  return Value::object(std::move(list));
}

bool is_sequence(const Value& value) {
  return value.is_text() || (value.as_object() != nullptr && value.as_object()->is_sequence());
}

}  // namespace

Value apply_binary(Runtime& runtime, Operator op, const Value& left, const Value& right) {
  for (const Value* value : {&left, &right}) {
    // '%' formats an undefined value like any other one.
    if (value->is_undefined() && !(op == Operator::modulo && left.is_text())) {
      runtime.fail(value->hint());
    }
  }
  if (left.is_numeric() && right.is_numeric()) {
    const bool integers = left.is_integral() && right.is_integral() && op != Operator::divide &&
                          !(op == Operator::power && right.as_integer() < 0);
    return integers ? integer_arithmetic(runtime, op, left.as_integer(), right.as_integer())
                    : number_arithmetic(runtime, op, left.as_number(), right.as_number());
  }
  if (op == Operator::add && left.is_text() && right.is_text()) {
    Text out = left.as_text();
    out.append(right.as_text());
    return runtime.text(std::move(out));
  }
  if (op == Operator::add && is_sequence(left) && is_sequence(right) && !left.is_text() &&
      !right.is_text() && left.as_object()->kind == right.as_object()->kind) {
    std::vector<Value> items = left.as_object()->values;
    const std::vector<Value>& more = right.as_object()->values;
    items.insert(items.end(), more.begin(), more.end());
    return runtime.sequence(std::move(items), left.as_object()->kind);
  }
  if (op == Operator::modulo && left.is_text()) {
    return runtime.text(format_percent(runtime, left.as_text(), right));
  }
  if (op == Operator::multiply && is_sequence(left) && right.is_integral()) {
    return repeated(runtime, left, right.as_integer());
  }
  if (op == Operator::multiply && left.is_integral() && is_sequence(right)) {
    return repeated(runtime, right, left.as_integer());
  }
  runtime.fail(fmt::format("unsupported operand types for {}: '{}' and '{}'", symbol(op),
                           type_name(left), type_name(right)));
}

Value apply_unary(Runtime& runtime, Operator op, const Value& value) {
  if (value.is_undefined()) runtime.fail(value.hint());
  if (!value.is_numeric()) {
    runtime.fail(fmt::format("bad operand type for unary {}: '{}'", symbol(op), type_name(value)));
  }
  const bool negate = op == Operator::negate;
  if (!value.is_integral()) return Value::number(negate ? -value.as_number() : value.as_number());
  return integer_arithmetic(runtime, negate ? Operator::subtract : Operator::add, 0,
                            value.as_integer());
}

bool apply_comparison(Runtime& runtime, Operator op, const Value& left, const Value& right) {
  switch (op) {
    case Operator::equal:
      return equal(runtime, left, right);
    case Operator::not_equal:
      return !equal(runtime, left, right);
    case Operator::in:
      return runtime.contains(right, left);
    case Operator::not_in:
      return !runtime.contains(right, left);
    case Operator::less:
      return less(runtime, left, right);
    case Operator::greater:
      return less(runtime, right, left);
    case Operator::less_equal:
      return less(runtime, left, right) || equal(runtime, left, right);
    default:
      return less(runtime, right, left) || equal(runtime, left, right);
  }
}

Value apply_slice(Runtime& runtime, const Value& value, const Value& start, const Value& stop,
                  const Value& step) {
  if (value.is_undefined()) runtime.fail(value.hint());
  if (!is_sequence(value)) {
    runtime.fail(fmt::format("'{}' object cannot be sliced", type_name(value)));
  }
  const auto bound = [&](const Value& given, std::int64_t fallback) {
    if (given.is_undefined() || given.is_none()) return fallback;
    if (!given.is_integral()) runtime.fail("slice indices must be integers or none");
    return given.as_integer();
  };
  const std::int64_t stride = bound(step, 1);
  if (stride == 0) runtime.fail("slice step cannot be zero");
  const std::int64_t count = runtime.length(value);
  // Bounds go into [low, high] after counting negative ones from the end, as PySlice_AdjustIndices
  // does.
  const std::int64_t low = stride > 0 ? 0 : -1;
  const std::int64_t high = stride > 0 ? count : count - 1;
  const auto adjusted = [&](const Value& given, std::int64_t fallback) {
    if (given.is_undefined() || given.is_none()) return fallback;
    std::int64_t at = bound(given, 0);
    if (at < 0) at = at < -count ? -1 - count : at + count;
    return std::clamp(at, low, high);
  };
  std::int64_t at = adjusted(start, stride > 0 ? low : high);
  const std::int64_t end = adjusted(stop, stride > 0 ? high : low);
  std::vector<std::int64_t> picked;
  while (stride > 0 ? at < end : at > end) {
    picked.push_back(at);
    if (__builtin_add_overflow(at, stride, &at)) break;
  }
  runtime.budget.step(picked.size());
  if (!value.is_text()) {
    const Object& object = *value.as_object();
    std::vector<Value> items;
    for (const std::int64_t i : picked) items.push_back(object.values[static_cast<std::size_t>(i)]);
    return runtime.sequence(std::move(items), object.kind);
  }
  const Text& text = value.as_text();
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < text.size(); i += code_point_at(text.bytes(), i).bytes) {
    offsets.push_back(i);
  }
  offsets.push_back(text.size());
  Text out;
  for (const std::int64_t i : picked) {
    const auto at_char = static_cast<std::size_t>(i);
    out.append(text, offsets[at_char], offsets[at_char + 1]);
  }
  return runtime.text(std::move(out));
}

}  // namespace r1::text::jinja
