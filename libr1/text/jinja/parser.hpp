// Builds the tree of a template from its tokens; the grammar is that of jinja2/parser.py
// (Jinja 3.1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libr1/text/jinja/ast.hpp"
#include "libr1/text/jinja/lexer.hpp"

namespace r1::text::jinja {

/// Deepest nesting of brackets and blocks; each level is a dozen stack frames of the parser.
inline constexpr int kNestingMax = 150;
/// Deepest tree; chains such as a + b + c + ... grow one level an operator.
inline constexpr int kTreeDepthMax = 500;

/// One pass over the tokens of a template.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  /// The whole template. Throws Error{template_error, unsupported} with the line.
  Block parse();

 private:
  class Nested;

  // Statements (parser.cpp).
  Block block(const std::vector<std::string_view>& ends);
  StatementPtr statement();
  StatementPtr output();
  StatementPtr conditional();
  StatementPtr loop();
  StatementPtr set();
  StatementPtr macro();
  StatementPtr with();
  StatementPtr filter_block();
  StatementPtr generation();
  StatementPtr make(Statement::Kind kind) const;
  Statement::Target target(bool with_tuple);
  Statement::Target single_target();
  void end_tag(std::string_view name);

  // Expressions (parser_expressions.cpp; leaves in parser_literals.cpp).
  ExpressionPtr expression(bool with_condition = true);
  ExpressionPtr tuple(bool with_condition = true);
  ExpressionPtr disjunction();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filter = true);
  ExpressionPtr primary();
  ExpressionPtr name_or_constant();
  ExpressionPtr string();
  ExpressionPtr number();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr parenthesis();
  ExpressionPtr postfix(ExpressionPtr node);
  ExpressionPtr filters(ExpressionPtr node);
  ExpressionPtr subscript(ExpressionPtr object);
  ExpressionPtr call(ExpressionPtr callee);
  ExpressionPtr filter(ExpressionPtr input);
  ExpressionPtr test(ExpressionPtr input);
  CallArguments call_arguments();
  ExpressionPtr make(Expression::Kind kind) const;
  ExpressionPtr binary(Operator op, ExpressionPtr left, ExpressionPtr right);
  /// Adds a child and takes over its depth; fails when that is too deep.
  void adopt(Expression& parent, ExpressionPtr child) const;
  void adopt(Expression& parent, CallArguments arguments) const;
  void check_depth(const Expression& node) const;

  const Token& peek(std::size_t ahead = 0) const;
  const Token& next();
  bool at_op(std::string_view op) const;
  bool at_name(std::string_view name) const;
  bool take_op(std::string_view op);
  bool take_name(std::string_view name);
  void expect_op(std::string_view op);
  void expect(TokenType type, std::string_view what);
  std::string expect_name(std::string_view what);
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void unsupported(const std::string& what) const;
  [[noreturn]] void unexpected(std::string_view wanted) const;

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;
};

/// Counts one level of the parser's own recursion.
class Parser::Nested {
 public:
  explicit Nested(Parser& parser);
  ~Nested() { --parser_.depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  Parser& parser_;
};

}  // namespace r1::text::jinja
