// Expressions. Each kind has a function of its own, so that the recursive one keeps a small stack
// frame.
#include <fmt/format.h>

#include "libr1/text/jinja/interpreter_nested.hpp"
#include "libr1/text/jinja/operators.hpp"

namespace r1::text::jinja {

Value Interpreter::evaluate(const Expression& node) {
  const Nested nested(*this, node.line);
  switch (node.kind) {
    case Expression::Kind::constant:
      return node.constant;
    case Expression::Kind::name:
      return lookup(node.name);
    case Expression::Kind::list:
    case Expression::Kind::tuple:
      return evaluate_sequence(node);
    case Expression::Kind::dict:
      return evaluate_dict(node);
    case Expression::Kind::unary:
      return apply_unary(runtime_, node.operators[0], evaluate(*node.children[0]));
    case Expression::Kind::binary:
      return evaluate_binary(node);
    case Expression::Kind::concat:
      return evaluate_concat(node);
    case Expression::Kind::logical_and:
    case Expression::Kind::logical_or:
      return evaluate_logical(node);
    case Expression::Kind::logical_not:
      return Value::boolean(!truthy(evaluate(*node.children[0])));
    case Expression::Kind::compare:
      return evaluate_comparison(node);
    case Expression::Kind::conditional: {
      const bool condition = truthy(evaluate(*node.children[0]));
      const ExpressionPtr& branch = node.children[condition ? 1 : 2];
      if (branch != nullptr) return evaluate(*branch);
      return Value::undefined("the inline if-expression was false and has no else");
    }
    case Expression::Kind::attribute:
      return runtime_.attribute(evaluate(*node.children[0]), node.name);
    case Expression::Kind::item:
      return runtime_.item(evaluate(*node.children[0]), evaluate(*node.children[1]));
    case Expression::Kind::slice:
      return evaluate_slice(node);
    case Expression::Kind::call:
      return evaluate_call(node);
    case Expression::Kind::filter:
      return evaluate_filter(node, evaluate(*node.children[0]));
    case Expression::Kind::test:
      return Value::boolean(evaluate_test(node));
  }
  return Value();
}

Value Interpreter::evaluate_sequence(const Expression& node) {
  std::vector<Value> items;
  for (const ExpressionPtr& child : node.children) items.push_back(evaluate(*child));
  const bool list = node.kind == Expression::Kind::list;
  return runtime_.sequence(std::move(items), list ? ObjectKind::list : ObjectKind::tuple);
}

Value Interpreter::evaluate_dict(const Expression& node) {
  ObjectPtr dict = runtime_.make(ObjectKind::dict);
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const Value key = evaluate(*node.children[i]);
    runtime_.set(*dict, key, evaluate(*node.children[i + 1]));
  }
  return Value::object(std::move(dict));
}

Value Interpreter::evaluate_concat(const Expression& node) {
  Text text;
  for (const ExpressionPtr& child : node.children) {
    text.append(to_text(runtime_, evaluate(*child)));
  }
  return runtime_.text(std::move(text));
}

Value Interpreter::evaluate_logical(const Expression& node) {
  const bool stop_at = node.kind == Expression::Kind::logical_or;
  Value value;
  for (const ExpressionPtr& child : node.children) {
    value = evaluate(*child);
    if (truthy(value) == stop_at) break;
  }
  return value;
}

Value Interpreter::evaluate_comparison(const Expression& node) {
  Value left = evaluate(*node.children[0]);
  for (std::size_t i = 0; i < node.operators.size(); ++i) {
    Value right = evaluate(*node.children[i + 1]);
    if (!apply_comparison(runtime_, node.operators[i], left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_binary(const Expression& node) {
  const Value left = evaluate(*node.children[0]);
  const Value right = evaluate(*node.children[1]);
  return apply_binary(runtime_, node.operators[0], left, right);
}

Value Interpreter::evaluate_slice(const Expression& node) {
  const Value object = evaluate(*node.children[0]);
  const auto bound = [&](std::size_t i) {
    return node.children[i] != nullptr ? evaluate(*node.children[i]) : Value::none();
  };
  const Value start = bound(1);
  const Value stop = bound(2);
  return apply_slice(runtime_, object, start, stop, bound(3));
}

Arguments Interpreter::evaluate_arguments(const CallArguments& written) {
  Arguments arguments;
  for (const ExpressionPtr& argument : written.positional) {
    arguments.positional.push_back(evaluate(*argument));
  }
  for (const auto& [name, argument] : written.named) {
    arguments.named.emplace_back(name, evaluate(*argument));
  }
  return arguments;
}

Value Interpreter::evaluate_call(const Expression& node) {
  const Value callee = evaluate(*node.children[0]);
  if (callee.is_undefined()) runtime_.fail(callee.hint());
  const Object* function = callee.as_object();
  if (function == nullptr || function->kind != ObjectKind::function) {
    runtime_.fail(fmt::format("'{}' object is not callable", type_name(callee)));
  }
  const Arguments arguments = evaluate_arguments(node.arguments);
  if (function->macro != nullptr) return call_macro(*function, arguments);
  const Value self = function->values.empty() ? Value() : function->values[0];
  return function->native(runtime_, self, arguments);
}

Value Interpreter::evaluate_filter(const Expression& node, const Value& input) {
  return node.filter(runtime_, input, evaluate_arguments(node.arguments));
}

Value Interpreter::evaluate_chain(const Expression& node, Value input) {
  const Nested nested(*this, node.line);
  const Expression* inner = node.children[0].get();
  if (inner != nullptr) input = evaluate_chain(*inner, std::move(input));
  if (node.kind == Expression::Kind::filter) return evaluate_filter(node, input);
  runtime_.unsupported("a block's filter chain with something other than filters");
}

bool Interpreter::evaluate_test(const Expression& node) {
  const Value input = evaluate(*node.children[0]);
  return node.test(runtime_, input, evaluate_arguments(node.arguments));
}

}  // namespace r1::text::jinja
