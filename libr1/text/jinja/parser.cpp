// Statements of a template, and the token stream both halves of the parser read.
#include "libr1/text/jinja/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libr1/text/jinja/runtime.hpp"
#include "r1/error.hpp"

namespace r1::text::jinja {

Parser::Nested::Nested(Parser& parser) : parser_(parser) {
  if (parser_.depth_ >= kNestingMax) {
    parser_.fail(fmt::format("nested deeper than {} levels", kNestingMax));
  }
  ++parser_.depth_;
}

Block Parser::parse() { return block({}); }

const Token& Parser::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

const Token& Parser::next() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::at_op(std::string_view op) const {
  return peek().type == TokenType::op && peek().text == op;
}

bool Parser::at_name(std::string_view name) const {
  return peek().type == TokenType::name && peek().text == name;
}

bool Parser::take_op(std::string_view op) {
  const bool here = at_op(op);
  if (here) next();
  return here;
}

bool Parser::take_name(std::string_view name) {
  const bool here = at_name(name);
  if (here) next();
  return here;
}

void Parser::expect_op(std::string_view op) {
  if (!take_op(op)) unexpected(fmt::format("'{}'", op));
}

void Parser::expect(TokenType type, std::string_view what) {
  if (peek().type != type) unexpected(what);
  next();
}

std::string Parser::expect_name(std::string_view what) {
  if (peek().type != TokenType::name) unexpected(what);
  return next().text;
}

void Parser::fail(const std::string& message) const {
  throw Error(ErrorCode::template_error,
              fmt::format("chat template, line {}: {}", peek().line, message));
}

void Parser::unsupported(const std::string& what) const {
  throw Error(ErrorCode::unsupported,
              fmt::format("chat template, line {}: {} is not supported", peek().line, what));
}

void Parser::unexpected(std::string_view wanted) const {
  const Token& token = peek();
  std::string got;
  switch (token.type) {
    case TokenType::end:
      got = "the end of the template";
      break;
    case TokenType::variable_end:
    case TokenType::block_end:
      got = "the end of the tag";
      break;
    default:
      got = fmt::format("'{}'", token.text.substr(0, 40));
      break;
  }
  fail(fmt::format("expected {}, got {}", wanted, got));
}

StatementPtr Parser::make(Statement::Kind kind) const {
  auto node = std::make_unique<Statement>();
  node->kind = kind;
  node->line = peek().line;
  return node;
}

Block Parser::block(const std::vector<std::string_view>& ends) {
  const Nested nested(*this);
  Block statements;
  while (peek().type != TokenType::end) {
    if (peek().type == TokenType::data) {
      StatementPtr node = make(Statement::Kind::data);
      node->constant =
          Value::text(std::make_shared<const Text>(next().text, Author::template_file));
      statements.push_back(std::move(node));
    } else if (peek().type == TokenType::variable_begin) {
      statements.push_back(output());
    } else {
      expect(TokenType::block_begin, "a tag");
      if (std::any_of(ends.begin(), ends.end(), [&](auto end) { return at_name(end); })) {
        return statements;
      }
      statements.push_back(statement());
    }
  }
  if (!ends.empty()) unexpected(fmt::format("'{}'", ends.back()));
  return statements;
}

StatementPtr Parser::output() {
  StatementPtr node = make(Statement::Kind::output);
  next();
  node->expressions.push_back(tuple());
  expect(TokenType::variable_end, "'}}'");
  return node;
}

StatementPtr Parser::statement() {
  if (take_name("if")) return conditional();
  if (take_name("for")) return loop();
  if (take_name("set")) return set();
  if (take_name("macro")) return macro();
  if (take_name("with")) return with();
  if (take_name("filter")) return filter_block();
  if (take_name("generation")) return generation();
  const bool breaks = at_name("break");
  if (breaks || at_name("continue")) {
    if (loops_ == 0) fail(fmt::format("'{}' outside of a loop", peek().text));
    StatementPtr node = make(breaks ? Statement::Kind::break_loop : Statement::Kind::continue_loop);
    next();
    expect(TokenType::block_end, "'%}'");
    return node;
  }
  static constexpr std::array<std::string_view, 9> kOther = {
      "block", "extends", "include", "import", "from", "call", "autoescape", "do", "trans"};
  for (const std::string_view name : kOther) {
    if (at_name(name)) unsupported(fmt::format("tag '{}'", name));
  }
  unexpected("a known tag");
}

void Parser::end_tag(std::string_view name) {
  if (!take_name(name)) unexpected(fmt::format("'{}'", name));
  expect(TokenType::block_end, "'%}'");
}

StatementPtr Parser::conditional() {
  StatementPtr node = make(Statement::Kind::conditional);
  do {
    node->expressions.push_back(tuple(false));
    expect(TokenType::block_end, "'%}'");
    node->bodies.push_back(block({"elif", "else", "endif"}));
  } while (take_name("elif"));
  if (take_name("else")) {
    expect(TokenType::block_end, "'%}'");
    node->bodies.push_back(block({"endif"}));
  }
  end_tag("endif");
  return node;
}

Statement::Target Parser::single_target() {
  const Nested nested(*this);
  if (take_op("(")) {
    Statement::Target inside = target(true);
    expect_op(")");
    return inside;
  }
  Statement::Target one;
  one.name = expect_name("a name to assign to");
  static constexpr std::array<std::string_view, 6> kConstants = {"true", "false", "none",
                                                                 "True", "False", "None"};
  if (std::find(kConstants.begin(), kConstants.end(), one.name) != kConstants.end()) {
    fail(fmt::format("cannot assign to '{}'", one.name));
  }
  if (take_op(".")) one.attribute = expect_name("an attribute name");
  return one;
}

Statement::Target Parser::target(bool with_tuple) {
  Statement::Target first = single_target();
  if (!with_tuple || !at_op(",")) return first;
  Statement::Target all;
  all.targets.push_back(std::move(first));
  while (take_op(",")) {
    if (peek().type != TokenType::name && !at_op("(")) break;
    if (at_name("in")) break;
    all.targets.push_back(single_target());
  }
  return all;
}

StatementPtr Parser::loop() {
  StatementPtr node = make(Statement::Kind::loop);
  node->target = target(true);
  if (!take_name("in")) unexpected("'in'");
  node->expressions.push_back(tuple(false));
  node->expressions.push_back(take_name("if") ? expression() : nullptr);
  if (at_name("recursive")) unsupported("a recursive loop");
  expect(TokenType::block_end, "'%}'");
  ++loops_;
  node->bodies.push_back(block({"else", "endfor"}));
  --loops_;
  if (take_name("else")) {
    expect(TokenType::block_end, "'%}'");
    node->bodies.push_back(block({"endfor"}));
  }
  end_tag("endfor");
  return node;
}

StatementPtr Parser::set() {
  StatementPtr node = make(Statement::Kind::set);
  node->target = target(true);
  if (take_op("=")) {
    node->expressions.push_back(tuple());
    expect(TokenType::block_end, "'%}'");
    return node;
  }
  node->kind = Statement::Kind::set_block;
  node->expressions.push_back(at_op("|") ? filters(nullptr) : nullptr);
  expect(TokenType::block_end, "'%}'");
  node->bodies.push_back(block({"endset"}));
  end_tag("endset");
  return node;
}

StatementPtr Parser::macro() {
  StatementPtr node = make(Statement::Kind::macro);
  node->name = expect_name("the macro's name");
  expect_op("(");
  while (!at_op(")")) {
    node->names.push_back(expect_name("a parameter"));
    if (take_op("=")) {
      node->expressions.push_back(expression());
    } else if (!node->expressions.empty()) {
      fail("a parameter without a default follows one with a default");
    }
    if (!take_op(",")) break;
  }
  expect_op(")");
  expect(TokenType::block_end, "'%}'");
  const int outer_loops = loops_;
  loops_ = 0;
  node->bodies.push_back(block({"endmacro"}));
  loops_ = outer_loops;
  end_tag("endmacro");
  return node;
}

StatementPtr Parser::with() {
  StatementPtr node = make(Statement::Kind::with);
  while (peek().type != TokenType::block_end) {
    node->targets.push_back(target(false));
    expect_op("=");
    node->expressions.push_back(expression());
    if (!take_op(",")) break;
  }
  expect(TokenType::block_end, "'%}'");
  node->bodies.push_back(block({"endwith"}));
  end_tag("endwith");
  return node;
}

StatementPtr Parser::filter_block() {
  StatementPtr node = make(Statement::Kind::filter_block);
  node->expressions.push_back(filters(filter(nullptr)));
  expect(TokenType::block_end, "'%}'");
  node->bodies.push_back(block({"endfilter"}));
  end_tag("endfilter");
  return node;
}

StatementPtr Parser::generation() {
  StatementPtr node = make(Statement::Kind::scope);
  expect(TokenType::block_end, "'%}'");
  node->bodies.push_back(block({"endgeneration"}));
  end_tag("endgeneration");
  return node;
}

}  // namespace r1::text::jinja
