// The parsed form of a template. Every node knows its depth, so that no walk can overflow the
// stack.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libr1/text/jinja/value.hpp"

namespace r1::text::jinja {

struct Expression;
struct Statement;
using ExpressionPtr = std::unique_ptr<Expression>;
using StatementPtr = std::unique_ptr<Statement>;

/// Operators of unary, binary and compare nodes.
enum class Operator {
  plus,
  negate,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
};

/// Arguments as written at a call, filter or test.
struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

/// An expression.
struct Expression {
  /// What `children` hold is said behind each kind.
  enum class Kind {
    constant,     ///< nothing; `constant`
    name,         ///< nothing; `name`
    list,         ///< elements
    tuple,        ///< elements
    dict,         ///< key, value, key, value ...
    unary,        ///< operand; operators[0]
    binary,       ///< left, right; operators[0]
    concat,       ///< parts of a ~ chain
    logical_and,  ///< operands
    logical_or,   ///< operands
    logical_not,  ///< operand
    compare,      ///< operands, one more than `operators`
    conditional,  ///< condition, then, else (may be null)
    attribute,    ///< object; `name`
    item,         ///< object, key
    slice,        ///< object, start, stop, step (each may be null)
    call,         ///< callee; `arguments`
    filter,       ///< input (null in a filter block); `filter`, `arguments`
    test,         ///< input; `test`, `arguments`
  };
  Kind kind = Kind::constant;
  int line = 0;
  int depth = 1;
  std::string name;
  Value constant;
  std::vector<ExpressionPtr> children;
  std::vector<Operator> operators;
  CallArguments arguments;
  Native filter = nullptr;
  NativeTest test = nullptr;
};

/// Statements one after another.
using Block = std::vector<StatementPtr>;

/// A statement.
struct Statement {
  /// Which fields count is said behind each kind.
  enum class Kind {
    data,         ///< `constant`
    output,       ///< expressions[0]
    conditional,  ///< expressions[i] guards bodies[i]; one more body is the else
    loop,         ///< `target`, expressions: iterable, condition (may be null); bodies: loop, else
    set,          ///< `target`, expressions[0]
    set_block,    ///< `target`, expressions[0]: filter chain (may be null), bodies[0]
    macro,  ///< `names`: parameters; expressions: defaults of the last ones; bodies[0]; `name`
    with,   ///< `targets`, expressions: values; bodies[0]
    filter_block,  ///< expressions[0]: filter chain; bodies[0]
    scope,         ///< bodies[0]; a `generation` block
    break_loop,
    continue_loop,
  };
  /// A place to assign to: a name, an attribute of a namespace, or a tuple of targets.
  struct Target {
    std::string name;
    std::string attribute;        ///< not empty: `name.attribute`
    std::vector<Target> targets;  ///< not empty: unpacking
  };
  Kind kind = Kind::data;
  int line = 0;
  std::string name;
  Value constant;
  Target target;
  std::vector<Target> targets;
  std::vector<std::string> names;
  std::vector<ExpressionPtr> expressions;
  std::vector<Block> bodies;
};

}  // namespace r1::text::jinja
