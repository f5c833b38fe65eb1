// Python's operators on template values.
#pragma once

#include "libr1/text/jinja/ast.hpp"
#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {

/// `left op right` for the arithmetic operators. Fails for types that do not go together and on
/// overflow.
Value apply_binary(Runtime& runtime, Operator op, const Value& left, const Value& right);
/// `+value` or `-value`.
Value apply_unary(Runtime& runtime, Operator op, const Value& value);
/// `left op right` for comparisons and `in`.
bool apply_comparison(Runtime& runtime, Operator op, const Value& left, const Value& right);
/// `value[start:stop:step]`; undefined or none stands for a bound that is left out.
Value apply_slice(Runtime& runtime, const Value& value, const Value& start, const Value& stop,
                  const Value& step);

}  // namespace r1::text::jinja
