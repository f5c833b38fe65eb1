// The leaves of expressions: names, constants, numbers, strings, and bracketed lists, tuples and
// dicts.
#include <fmt/format.h>

#include <charconv>

#include "libr1/text/jinja/parser.hpp"

namespace r1::text::jinja {

ExpressionPtr Parser::name_or_constant() {
  ExpressionPtr node = make(Expression::Kind::constant);
  const std::string name = next().text;
  if (name == "true" || name == "True") {
    node->constant = Value::boolean(true);
  } else if (name == "false" || name == "False") {
    node->constant = Value::boolean(false);
  } else if (name == "none" || name == "None") {
    node->constant = Value::none();
  } else {
    node->kind = Expression::Kind::name;
    node->name = name;
  }
  return node;
}

ExpressionPtr Parser::string() {
  ExpressionPtr node = make(Expression::Kind::constant);
  std::string text;
  while (peek().type == TokenType::string) text += next().text;
  node->constant = Value::text(std::make_shared<const Text>(text, Author::template_file));
  return node;
}

ExpressionPtr Parser::number() {
  ExpressionPtr node = make(Expression::Kind::constant);
  const Token& token = peek();
  const char* const end = token.text.data() + token.text.size();
  if (token.type == TokenType::integer) {
    std::int64_t value = 0;
    if (std::from_chars(token.text.data(), end, value).ec != std::errc()) {
      fail(fmt::format("integer {} is too large", token.text));
    }
    node->constant = Value::integer(value);
  } else {
    double value = 0;
    if (std::from_chars(token.text.data(), end, value).ec != std::errc()) {
      fail(fmt::format("number {} is out of range", token.text));
    }
    node->constant = Value::number(value);
  }
  next();
  return node;
}

ExpressionPtr Parser::parenthesis() {
  next();
  if (at_op(")")) {
    ExpressionPtr empty = make(Expression::Kind::tuple);
    next();
    return empty;
  }
  ExpressionPtr node = tuple();
  expect_op(")");
  return node;
}

ExpressionPtr Parser::list() {
  ExpressionPtr node = make(Expression::Kind::list);
  next();
  while (!at_op("]")) {
    adopt(*node, expression());
    if (!take_op(",")) break;
  }
  expect_op("]");
  return node;
}

ExpressionPtr Parser::dict() {
  ExpressionPtr node = make(Expression::Kind::dict);
  next();
  while (!at_op("}")) {
    adopt(*node, expression());
    expect_op(":");
    adopt(*node, expression());
    if (!take_op(",")) break;
  }
  expect_op("}");
  return node;
}

}  // namespace r1::text::jinja
