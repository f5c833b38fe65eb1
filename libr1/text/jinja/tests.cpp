// The tests behind `is`.
#include <cmath>

#include "libr1/text/jinja/operators.hpp"
#include "libr1/text/jinja/text_tools.hpp"

namespace r1::text::jinja {
namespace {

bool is_kind(const Value& value, ObjectKind kind) {
  return value.as_object() != nullptr && value.as_object()->kind == kind;
}
bool is_list(const Value& value) {
  return value.as_object() != nullptr && value.as_object()->is_sequence();
}

bool test_defined(Runtime&, const Value& v, const Arguments&) { return !v.is_undefined(); }
bool test_undefined(Runtime&, const Value& v, const Arguments&) { return v.is_undefined(); }
bool test_none(Runtime&, const Value& v, const Arguments&) { return v.is_none(); }
bool test_string(Runtime&, const Value& v, const Arguments&) { return v.is_text(); }
bool test_number(Runtime&, const Value& v, const Arguments&) { return v.is_numeric(); }
bool test_integer(Runtime&, const Value& v, const Arguments&) { return v.is(Kind::integer); }
bool test_float(Runtime&, const Value& v, const Arguments&) { return v.is(Kind::number); }
bool test_boolean(Runtime&, const Value& v, const Arguments&) { return v.is(Kind::boolean); }
bool test_true(Runtime&, const Value& v, const Arguments&) {
  return v.is(Kind::boolean) && v.as_boolean();
}
bool test_false(Runtime&, const Value& v, const Arguments&) {
  return v.is(Kind::boolean) && !v.as_boolean();
}
bool test_mapping(Runtime&, const Value& v, const Arguments&) {
  return is_kind(v, ObjectKind::dict);
}
// Undefined has a length and can be iterated in Jinja, so it passes both of these.
bool test_sequence(Runtime&, const Value& v, const Arguments&) {
  return v.is_undefined() || v.is_text() || is_list(v) || is_kind(v, ObjectKind::dict);
}
bool test_callable(Runtime&, const Value& v, const Arguments&) {
  return v.is_undefined() || is_kind(v, ObjectKind::function);
}

bool cased(const Value& value, Text (*change)(const Text&), Text (*other)(const Text&)) {
  if (!value.is_text()) return false;
  const std::string& bytes = value.as_text().bytes();
  return change(value.as_text()).bytes() == bytes && other(value.as_text()).bytes() != bytes;
}
bool test_lower(Runtime&, const Value& v, const Arguments&) { return cased(v, lower, upper); }
bool test_upper(Runtime&, const Value& v, const Arguments&) { return cased(v, upper, lower); }

std::int64_t remainder(Runtime& runtime, const Value& value, std::int64_t divisor) {
  const Value rest = apply_binary(runtime, Operator::modulo, value, Value::integer(divisor));
  // A fraction is neither odd nor even nor divisible.
  return rest.is_integral()                               ? rest.as_integer()
         : rest.is(Kind::number) && rest.as_number() == 0 ? 0
                                                          : -1;
}
bool test_odd(Runtime& runtime, const Value& v, const Arguments&) {
  const Value rest = apply_binary(runtime, Operator::modulo, v, Value::integer(2));
  return equal(runtime, rest, Value::integer(1));
}
bool test_even(Runtime& runtime, const Value& v, const Arguments&) {
  return remainder(runtime, v, 2) == 0;
}
bool test_divisible(Runtime& runtime, const Value& v, const Arguments& arguments) {
  ArgumentReader args(runtime, "divisibleby", arguments);
  const Value& divisor = args.required("num");
  if (!divisor.is_integral()) runtime.fail("divisibleby: expected an integer");
  return remainder(runtime, v, divisor.as_integer()) == 0;
}

template <Operator Op>
bool compared(Runtime& runtime, const Value& v, const Arguments& arguments) {
  ArgumentReader args(runtime, "test", arguments);
  const Value& other = args.required("other");
  args.finish();
  return apply_comparison(runtime, Op, v, other);
}

bool test_same(Runtime& runtime, const Value& v, const Arguments& arguments) {
  ArgumentReader args(runtime, "sameas", arguments);
  const Value& other = args.required("other");
  if (v.as_object() != nullptr) return v.as_object() == other.as_object();
  return v.kind() == other.kind() && equal(runtime, v, other);
}

}  // namespace

NativeTest find_test(std::string_view name) {
  if (name == "defined") return test_defined;
  if (name == "undefined") return test_undefined;
  if (name == "none") return test_none;
  if (name == "string") return test_string;
  if (name == "number") return test_number;
  if (name == "integer") return test_integer;
  if (name == "float") return test_float;
  if (name == "boolean") return test_boolean;
  if (name == "true") return test_true;
  if (name == "false") return test_false;
  if (name == "mapping") return test_mapping;
  if (name == "iterable" || name == "sequence") return test_sequence;
  if (name == "callable") return test_callable;
  if (name == "lower") return test_lower;
  if (name == "upper") return test_upper;
  if (name == "odd") return test_odd;
  if (name == "even") return test_even;
  if (name == "divisibleby") return test_divisible;
  if (name == "sameas") return test_same;
  if (name == "in") return compared<Operator::in>;
  if (name == "eq" || name == "equalto" || name == "==") return compared<Operator::equal>;
  if (name == "ne" || name == "!=") return compared<Operator::not_equal>;
  if (name == "lt" || name == "lessthan" || name == "<") return compared<Operator::less>;
  if (name == "le" || name == "<=") return compared<Operator::less_equal>;
  if (name == "gt" || name == "greaterthan" || name == ">") return compared<Operator::greater>;
  if (name == "ge" || name == ">=") return compared<Operator::greater_equal>;
  return nullptr;
}

}  // namespace r1::text::jinja
