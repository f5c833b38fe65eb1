// Walks the tree of a template and writes its text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libr1/text/jinja/ast.hpp"
#include "libr1/text/jinja/runtime.hpp"

namespace r1::text::jinja {

/// One rendering. Statements are in interpreter.cpp, expressions in evaluator.cpp.
class Interpreter {
 public:
  /// `variables`: a dict; both outlive the interpreter.
  Interpreter(Runtime& runtime, const Object& variables);
  /// The text of `block`. Throws Error{template_error, unsupported} and LimitExceeded.
  Text run(const Block& block);

 private:
  enum class Flow { normal, break_loop, continue_loop };
  using Scope = std::vector<std::pair<std::string, Value>>;
  class Nested;

  Flow execute(const Block& block);
  Flow execute(const Statement& statement);
  Flow loop(const Statement& statement);
  Flow conditional(const Statement& statement);
  Flow with(const Statement& statement);
  void set(const Statement& statement);
  void filter_block(const Statement& statement);
  void define_macro(const Statement& statement);
  /// Runs `block` in a scope of its own and returns what it wrote.
  Text capture(const Block& block);
  void assign(const Statement::Target& target, Value value);
  void store(const std::string& name, Value value);
  Value lookup(const std::string& name);

  Value evaluate(const Expression& node);
  Value evaluate_sequence(const Expression& node);
  Value evaluate_dict(const Expression& node);
  Value evaluate_concat(const Expression& node);
  Value evaluate_logical(const Expression& node);
  Value evaluate_comparison(const Expression& node);
  Value evaluate_binary(const Expression& node);
  Value evaluate_slice(const Expression& node);
  Value evaluate_call(const Expression& node);
  Value evaluate_filter(const Expression& node, const Value& input);
  /// Applies a chain of filters whose innermost input is missing to `input`.
  Value evaluate_chain(const Expression& node, Value input);
  bool evaluate_test(const Expression& node);
  Arguments evaluate_arguments(const CallArguments& written);
  Value call_macro(const Object& function, const Arguments& arguments);

  Runtime& runtime_;
  const Object& variables_;
  std::vector<Scope> scopes_;
  Text* out_ = nullptr;
  int depth_ = 0;
};

}  // namespace r1::text::jinja
