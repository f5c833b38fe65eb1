// Statements: output, branches, loops, assignment, macros and scopes.
#include "libr1/text/jinja/interpreter.hpp"

#include <fmt/format.h>

#include "libr1/text/jinja/interpreter_nested.hpp"

namespace r1::text::jinja {

Interpreter::Interpreter(Runtime& runtime, const Object& variables)
    : runtime_(runtime), variables_(variables) {
  scopes_.emplace_back();
}

Text Interpreter::run(const Block& block) {
  Text text;
  out_ = &text;
  execute(block);
  return text;
}

Interpreter::Flow Interpreter::execute(const Block& block) {
  for (const StatementPtr& statement : block) {
    const Flow flow = execute(*statement);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const Statement& statement) {
  const Nested nested(*this, statement.line);
  switch (statement.kind) {
    case Statement::Kind::data:
      out_->append(statement.constant.as_text());
      break;
    case Statement::Kind::output: {
      const Text text = to_text(runtime_, evaluate(*statement.expressions[0]));
      runtime_.budget.work(text.size());
      out_->append(text);
      break;
    }
    case Statement::Kind::conditional:
      return conditional(statement);
    case Statement::Kind::loop:
      return loop(statement);
    case Statement::Kind::set:
    case Statement::Kind::set_block:
      set(statement);
      break;
    case Statement::Kind::macro:
      define_macro(statement);
      break;
    case Statement::Kind::with:
      return with(statement);
    case Statement::Kind::filter_block:
      filter_block(statement);
      break;
    case Statement::Kind::scope:
      out_->append(capture(statement.bodies[0]));
      break;
    case Statement::Kind::break_loop:
      return Flow::break_loop;
    case Statement::Kind::continue_loop:
      return Flow::continue_loop;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::conditional(const Statement& statement) {
  for (std::size_t i = 0; i < statement.expressions.size(); ++i) {
    if (truthy(evaluate(*statement.expressions[i]))) return execute(statement.bodies[i]);
  }
  const bool has_else = statement.bodies.size() > statement.expressions.size();
  return has_else ? execute(statement.bodies.back()) : Flow::normal;
}

Interpreter::Flow Interpreter::loop(const Statement& statement) {
  std::vector<Value> items = runtime_.iterate(evaluate(*statement.expressions[0]));
  if (const Expression* condition = statement.expressions[1].get()) {
    std::vector<Value> kept;
    for (Value& item : items) {
      scopes_.emplace_back();
      assign(statement.target, item);
      const bool keep = truthy(evaluate(*condition));
      scopes_.pop_back();
      if (keep) kept.push_back(std::move(item));
    }
    items = std::move(kept);
  }
  if (items.empty()) {
    if (statement.bodies.size() < 2) return Flow::normal;
    scopes_.emplace_back();
    const Flow flow = execute(statement.bodies[1]);
    scopes_.pop_back();
    return flow;
  }
  const ObjectPtr state = runtime_.make(ObjectKind::loop);
  state->push(runtime_.sequence(std::move(items)));
  const Object& list = *state->values[0].as_object();
  for (std::size_t i = 0; i < list.values.size(); ++i) {
    runtime_.budget.step();
    state->position = static_cast<std::int64_t>(i);
    scopes_.emplace_back();
    store("loop", Value::object(state));
    assign(statement.target, list.values[i]);
    const Flow flow = execute(statement.bodies[0]);
    scopes_.pop_back();
    if (flow == Flow::break_loop) break;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::with(const Statement& statement) {
  std::vector<Value> values;
  for (const ExpressionPtr& expression : statement.expressions) {
    values.push_back(evaluate(*expression));
  }
  scopes_.emplace_back();
  for (std::size_t i = 0; i < values.size(); ++i) assign(statement.targets[i], values[i]);
  const Flow flow = execute(statement.bodies[0]);
  scopes_.pop_back();
  return flow;
}

void Interpreter::set(const Statement& statement) {
  if (statement.kind == Statement::Kind::set) {
    return assign(statement.target, evaluate(*statement.expressions[0]));
  }
  Value value = runtime_.text(capture(statement.bodies[0]));
  if (statement.expressions[0]) value = evaluate_chain(*statement.expressions[0], std::move(value));
  assign(statement.target, std::move(value));
}

void Interpreter::filter_block(const Statement& statement) {
  Value value = runtime_.text(capture(statement.bodies[0]));
  out_->append(to_text(runtime_, evaluate_chain(*statement.expressions[0], std::move(value))));
}

Text Interpreter::capture(const Block& block) {
  Text text;
  Text* const outer = out_;
  out_ = &text;
  scopes_.emplace_back();
  const Flow flow = execute(block);
  scopes_.pop_back();
  out_ = outer;
  if (flow != Flow::normal) runtime_.unsupported("'break' or 'continue' out of a captured block");
  return text;
}

void Interpreter::define_macro(const Statement& statement) {
  const ObjectPtr function = runtime_.make(ObjectKind::function);
  function->macro = &statement;
  function->name = statement.name;
  store(statement.name, Value::object(function));
}

Value Interpreter::call_macro(const Object& function, const Arguments& arguments) {
  const Statement& macro = *function.macro;
  const std::size_t parameters = macro.names.size();
  if (arguments.positional.size() > parameters) {
    runtime_.fail(fmt::format("macro '{}' takes not more than {} arguments, got {}", macro.name,
                              parameters, arguments.positional.size()));
  }
  // A macro sees its parameters and the template's outermost variables, not its caller's.
  std::vector<Scope> outer(1);
  outer[0] = std::move(scopes_[0]);
  outer.swap(scopes_);
  scopes_.emplace_back();
  std::size_t used_named = 0;
  for (std::size_t i = 0; i < parameters; ++i) {
    const std::string& name = macro.names[i];
    const std::size_t first_default = parameters - macro.expressions.size();
    const Value* given = i < arguments.positional.size() ? &arguments.positional[i] : nullptr;
    for (const auto& [named, value] : arguments.named) {
      if (named != name) continue;
      if (given != nullptr)
        runtime_.fail(fmt::format("macro '{}': '{}' given twice", macro.name, name));
      given = &value;
      ++used_named;
    }
    if (given != nullptr) {
      store(name, *given);
    } else if (i >= first_default) {
      store(name, evaluate(*macro.expressions[i - first_default]));
    } else {
      store(name, Value::undefined(fmt::format("parameter '{}' was not provided", name)));
    }
  }
  if (used_named != arguments.named.size()) {
    runtime_.fail(fmt::format("macro '{}' takes no keyword argument '{}'", macro.name,
                              arguments.named.back().first));
  }
  Text text = capture(macro.bodies[0]);
  outer[0] = std::move(scopes_[0]);
  scopes_ = std::move(outer);
  return runtime_.text(std::move(text));
}

void Interpreter::assign(const Statement::Target& target, Value value) {
  if (!target.targets.empty()) {
    const std::vector<Value> values = runtime_.iterate(value);
    if (values.size() != target.targets.size()) {
      runtime_.fail(fmt::format("unpacking: expected {} values, got {}", target.targets.size(),
                                values.size()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) assign(target.targets[i], values[i]);
    return;
  }
  if (target.attribute.empty()) return store(target.name, std::move(value));
  const Value owner = lookup(target.name);
  Object* const object = owner.as_object();
  if (object == nullptr || object->kind != ObjectKind::name_space) {
    runtime_.fail(fmt::format("cannot assign attribute '{}' on '{}', which is not a namespace",
                              target.attribute, target.name));
  }
  if (value.as_object() != nullptr) runtime_.will_mutate(owner.object_ptr());
  object->set(runtime_.text(target.attribute, Author::template_file), std::move(value));
}

void Interpreter::store(const std::string& name, Value value) {
  for (auto& [known, stored] : scopes_.back()) {
    if (known == name) {
      stored = std::move(value);
      return;
    }
  }
  scopes_.back().emplace_back(name, std::move(value));
}

Value Interpreter::lookup(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    runtime_.budget.step();
    for (const auto& [known, value] : *scope) {
      if (known == name) return value;
    }
  }
  if (const Value* value = variables_.find(text_tag(name))) return *value;
  if (const Native native = find_function(name)) {
    const ObjectPtr function = runtime_.make(ObjectKind::function);
    function->native = native;
    function->name = name;
    return Value::object(function);
  }
  return Value::undefined(fmt::format("'{}' is undefined", name));
}

}  // namespace r1::text::jinja
