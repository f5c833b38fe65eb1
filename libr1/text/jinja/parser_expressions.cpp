// Expressions of a template, one function a level of precedence.
#include <fmt/format.h>

#include <algorithm>

#include "libr1/text/jinja/parser.hpp"
#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {

ExpressionPtr Parser::make(Expression::Kind kind) const {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->line = peek().line;
  return node;
}

void Parser::check_depth(const Expression& node) const {
  if (node.depth > kTreeDepthMax) {
    fail(fmt::format("expression nested deeper than {} levels", kTreeDepthMax));
  }
}

void Parser::adopt(Expression& parent, ExpressionPtr child) const {
  if (child != nullptr) parent.depth = std::max(parent.depth, child->depth + 1);
  parent.children.push_back(std::move(child));
  check_depth(parent);
}

void Parser::adopt(Expression& parent, CallArguments arguments) const {
  for (const auto& argument : arguments.positional) {
    parent.depth = std::max(parent.depth, argument->depth + 1);
  }
  for (const auto& argument : arguments.named) {
    parent.depth = std::max(parent.depth, argument.second->depth + 1);
  }
  parent.arguments = std::move(arguments);
  check_depth(parent);
}

ExpressionPtr Parser::binary(Operator op, ExpressionPtr left, ExpressionPtr right) {
  ExpressionPtr node = make(Expression::Kind::binary);
  node->operators.push_back(op);
  adopt(*node, std::move(left));
  adopt(*node, std::move(right));
  return node;
}

ExpressionPtr Parser::tuple(bool with_condition) {
  ExpressionPtr first = expression(with_condition);
  if (!at_op(",")) return first;
  ExpressionPtr node = make(Expression::Kind::tuple);
  adopt(*node, std::move(first));
  while (take_op(",")) {
    const TokenType type = peek().type;
    if (type == TokenType::variable_end || type == TokenType::block_end || at_op(")")) break;
    adopt(*node, expression(with_condition));
  }
  return node;
}

ExpressionPtr Parser::expression(bool with_condition) {
  const Nested nested(*this);
  ExpressionPtr node = disjunction();
  while (with_condition && take_name("if")) {
    ExpressionPtr conditional = make(Expression::Kind::conditional);
    adopt(*conditional, disjunction());
    adopt(*conditional, std::move(node));
    adopt(*conditional, take_name("else") ? expression() : nullptr);
    node = std::move(conditional);
  }
  return node;
}

ExpressionPtr Parser::disjunction() {
  ExpressionPtr first = conjunction();
  if (!at_name("or")) return first;
  ExpressionPtr node = make(Expression::Kind::logical_or);
  adopt(*node, std::move(first));
  while (take_name("or")) adopt(*node, conjunction());
  return node;
}

ExpressionPtr Parser::conjunction() {
  ExpressionPtr first = negation();
  if (!at_name("and")) return first;
  ExpressionPtr node = make(Expression::Kind::logical_and);
  adopt(*node, std::move(first));
  while (take_name("and")) adopt(*node, negation());
  return node;
}

ExpressionPtr Parser::negation() {
  if (!at_name("not")) return comparison();
  const Nested nested(*this);
  ExpressionPtr node = make(Expression::Kind::logical_not);
  next();
  adopt(*node, negation());
  return node;
}

ExpressionPtr Parser::comparison() {
  ExpressionPtr first = sum();
  ExpressionPtr node;
  while (true) {
    Operator op{};
    if (take_op("==")) {
      op = Operator::equal;
    } else if (take_op("!=")) {
      op = Operator::not_equal;
    } else if (take_op("<=")) {
      op = Operator::less_equal;
    } else if (take_op("<")) {
      op = Operator::less;
    } else if (take_op(">=")) {
      op = Operator::greater_equal;
    } else if (take_op(">")) {
      op = Operator::greater;
    } else if (take_name("in")) {
      op = Operator::in;
    } else if (at_name("not") && peek(1).type == TokenType::name && peek(1).text == "in") {
      next();
      next();
      op = Operator::not_in;
    } else {
      return node != nullptr ? std::move(node) : std::move(first);
    }
    if (node == nullptr) {
      node = make(Expression::Kind::compare);
      adopt(*node, std::move(first));
    }
    node->operators.push_back(op);
    adopt(*node, sum());
  }
}

ExpressionPtr Parser::sum() {
  ExpressionPtr node = concatenation();
  while (at_op("+") || at_op("-")) {
    const Operator op = next().text == "+" ? Operator::add : Operator::subtract;
    node = binary(op, std::move(node), concatenation());
  }
  return node;
}

ExpressionPtr Parser::concatenation() {
  ExpressionPtr first = product();
  if (!at_op("~")) return first;
  ExpressionPtr node = make(Expression::Kind::concat);
  adopt(*node, std::move(first));
  while (take_op("~")) adopt(*node, product());
  return node;
}

ExpressionPtr Parser::product() {
  ExpressionPtr node = power();
  while (true) {
    Operator op{};
    if (take_op("*")) {
      op = Operator::multiply;
    } else if (take_op("//")) {
      op = Operator::floor_divide;
    } else if (take_op("/")) {
      op = Operator::divide;
    } else if (take_op("%")) {
      op = Operator::modulo;
    } else {
      return node;
    }
    node = binary(op, std::move(node), power());
  }
}

ExpressionPtr Parser::power() {
  // Left to right, as Jinja has it (Python: right to left).
  ExpressionPtr node = unary();
  while (take_op("**")) node = binary(Operator::power, std::move(node), unary());
  return node;
}

ExpressionPtr Parser::unary(bool with_filter) {
  const Nested nested(*this);
  ExpressionPtr node;
  if (at_op("-") || at_op("+")) {
    node = make(Expression::Kind::unary);
    node->operators.push_back(next().text == "-" ? Operator::negate : Operator::plus);
    adopt(*node, unary(false));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filter ? filters(std::move(node)) : std::move(node);
}

ExpressionPtr Parser::primary() {
  switch (peek().type) {
    case TokenType::name:
      return name_or_constant();
    case TokenType::string:
      return string();
    case TokenType::integer:
    case TokenType::number:
      return number();
    default:
      break;
  }
  if (at_op("(")) return parenthesis();
  if (at_op("[")) return list();
  if (at_op("{")) return dict();
  unexpected("an expression");
}

ExpressionPtr Parser::postfix(ExpressionPtr node) {
  while (true) {
    if (at_op(".") || at_op("[")) {
      node = subscript(std::move(node));
    } else if (at_op("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr Parser::filters(ExpressionPtr node) {
  while (true) {
    if (take_op("|")) {
      node = filter(std::move(node));
    } else if (node != nullptr && at_name("is")) {
      node = test(std::move(node));
    } else if (node != nullptr && at_op("(")) {
      node = call(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr Parser::subscript(ExpressionPtr object) {
  if (take_op(".")) {
    ExpressionPtr node = make(Expression::Kind::attribute);
    if (peek().type == TokenType::integer) {
      node->kind = Expression::Kind::item;
      adopt(*node, std::move(object));
      adopt(*node, number());
      return node;
    }
    node->name = expect_name("an attribute name");
    adopt(*node, std::move(object));
    return node;
  }
  ExpressionPtr node = make(Expression::Kind::item);
  next();
  adopt(*node, std::move(object));
  adopt(*node, at_op(":") ? nullptr : expression());
  if (at_op(":")) {
    node->kind = Expression::Kind::slice;
    while (take_op(":")) {
      if (node->children.size() > 3) unexpected("']'");
      adopt(*node, at_op(":") || at_op("]") ? nullptr : expression());
    }
    if (node->children.size() == 3) adopt(*node, nullptr);
  } else if (at_op(",")) {
    unsupported("an index of several parts");
  }
  expect_op("]");
  return node;
}

CallArguments Parser::call_arguments() {
  CallArguments arguments;
  expect_op("(");
  while (!at_op(")")) {
    if (at_op("*") || at_op("**")) unsupported("a call with * or **");
    if (peek().type == TokenType::name && peek(1).type == TokenType::op && peek(1).text == "=") {
      std::string name = next().text;
      next();
      arguments.named.emplace_back(std::move(name), expression());
    } else {
      if (!arguments.named.empty()) fail("a positional argument follows a named one");
      arguments.positional.push_back(expression());
    }
    if (!take_op(",")) break;
  }
  expect_op(")");
  return arguments;
}

ExpressionPtr Parser::call(ExpressionPtr callee) {
  ExpressionPtr node = make(Expression::Kind::call);
  adopt(*node, std::move(callee));
  adopt(*node, call_arguments());
  return node;
}

ExpressionPtr Parser::filter(ExpressionPtr input) {
  ExpressionPtr node = make(Expression::Kind::filter);
  node->name = expect_name("a filter's name");
  node->filter = find_filter(node->name);
  if (node->filter == nullptr) unsupported(fmt::format("filter '{}'", node->name));
  adopt(*node, std::move(input));
  if (at_op("(")) adopt(*node, call_arguments());
  return node;
}

ExpressionPtr Parser::test(ExpressionPtr input) {
  next();
  const bool negated = take_name("not");
  ExpressionPtr node = make(Expression::Kind::test);
  node->name = expect_name("a test's name");
  node->test = find_test(node->name);
  if (node->test == nullptr) unsupported(fmt::format("test '{}'", node->name));
  adopt(*node, std::move(input));
  const TokenType type = peek().type;
  if (at_op("(")) {
    adopt(*node, call_arguments());
  } else if ((type == TokenType::name && !at_name("else") && !at_name("or") && !at_name("and") &&
              !at_name("if") && !at_name("is") && !at_name("not") && !at_name("in")) ||
             type == TokenType::string || type == TokenType::integer || type == TokenType::number ||
             at_op("[") || at_op("{")) {
    CallArguments arguments;
    arguments.positional.push_back(postfix(primary()));
    adopt(*node, std::move(arguments));
  }
  if (!negated) return node;
  ExpressionPtr inverse = make(Expression::Kind::logical_not);
  adopt(*inverse, std::move(node));
  return inverse;
}

}  // namespace r1::text::jinja
