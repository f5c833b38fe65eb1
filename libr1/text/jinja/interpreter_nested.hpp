// The interpreter's guard on recursion and steps, shared by its two source files.
#pragma once

#include <exception>

#include "libr1/text/jinja/interpreter.hpp"

namespace r1::text::jinja {

/// Enters one node: counts a step, remembers its line, bounds the recursion.
class Interpreter::Nested {
 public:
  /// Deepest recursion: the deepest tree, twice, or 200 macros in each other. About 1 MB of stack.
  static constexpr int kDepthMax = 1200;

  Nested(Interpreter& interpreter, int line)
      : interpreter_(interpreter), outer_line_(interpreter.runtime_.line) {
    interpreter.runtime_.line = line;
    interpreter.runtime_.budget.step();
    if (interpreter.depth_ >= kDepthMax) interpreter.runtime_.fail("recursion is too deep");
    ++interpreter.depth_;
  }
  ~Nested() {
    --interpreter_.depth_;
    // While an error unwinds, the line stays where it happened.
    if (std::uncaught_exceptions() == exceptions_) interpreter_.runtime_.line = outer_line_;
  }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  Interpreter& interpreter_;
  int outer_line_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace r1::text::jinja
