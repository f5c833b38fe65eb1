// Helpers for values that need the budget or the line: making, iterating, looking up, binding
// arguments.
#include "libr1/text/jinja/runtime.hpp"

#include <fmt/format.h>

#include "libr1/text/jinja/utf8.hpp"
#include "r1/error.hpp"

namespace r1::text::jinja {
namespace {

constexpr std::size_t kMessageBytesMax = 300;

/// Text whose bytes are accounted for as long as it lives.
struct CountedText : Text {
  CountedText(Text text, Budget& budget_in) : Text(std::move(text)), budget(budget_in) {
    budget.hold(size() + 64);
  }
  ~CountedText() { budget.release(size() + 64); }
  CountedText(const CountedText&) = delete;
  CountedText& operator=(const CountedText&) = delete;
  Budget& budget;
};

Value loop_attribute(const Object& loop, std::string_view name) {
  const Object& items = *loop.values[0].as_object();
  const auto count = static_cast<std::int64_t>(items.values.size());
  const std::int64_t at = loop.position;
  if (name == "index") return Value::integer(at + 1);
  if (name == "index0") return Value::integer(at);
  if (name == "first") return Value::boolean(at == 0);
  if (name == "last") return Value::boolean(at + 1 == count);
  if (name == "length") return Value::integer(count);
  if (name == "revindex") return Value::integer(count - at);
  if (name == "revindex0") return Value::integer(count - at - 1);
  if (name == "depth") return Value::integer(1);
  if (name == "depth0") return Value::integer(0);
  if (name == "previtem" && at > 0) return items.values[static_cast<std::size_t>(at - 1)];
  if (name == "previtem") return Value::undefined("there is no previous item");
  if (name == "nextitem" && at + 1 < count) return items.values[static_cast<std::size_t>(at + 1)];
  if (name == "nextitem") return Value::undefined("there is no next item");
  return Value::undefined(fmt::format("'LoopContext' object has no attribute '{}'", name));
}

Value text_item(Runtime& runtime, const Text& text, std::int64_t index) {
  runtime.budget.work(text.size());
  const auto count = static_cast<std::int64_t>(count_code_points(text.bytes()));
  if (index < 0) index += count;
  if (index < 0 || index >= count) return Value::undefined("str object has no such element");
  std::size_t at = 0;
  for (; index > 0; --index) at += code_point_at(text.bytes(), at).bytes;
  return runtime.text(text.slice(at, at + code_point_at(text.bytes(), at).bytes));
}

}  // namespace

Runtime::~Runtime() {
  for (const ObjectPtr& object : mutated) {
    const std::vector<Value> values = std::move(object->values);
    const std::vector<Value> keys = std::move(object->keys);
    object->values.clear();
    object->keys.clear();
    object->index.clear();
  }
}

void Runtime::fail(const std::string& message) const {
  // The message may quote text of the conversation: keep it short and on one line.
  std::string quoted = message.substr(0, kMessageBytesMax);
  for (char& c : quoted) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  throw Error(ErrorCode::template_error, fmt::format("chat template, line {}: {}", line, quoted));
}

void Runtime::unsupported(const std::string& what) const {
  throw Error(ErrorCode::unsupported,
              fmt::format("chat template, line {}: {} is not supported", line, what));
}

Value Runtime::text(Text value) {
  budget.work(value.size());
  return Value::text(std::make_shared<const CountedText>(std::move(value), budget));
}

ObjectPtr Runtime::make(ObjectKind kind) {
  budget.step();
  auto object = std::make_shared<Object>(kind, &budget);
  budget.hold(sizeof(Object));
  object->held = sizeof(Object);
  return object;
}

Value Runtime::sequence(std::vector<Value> values, ObjectKind kind) {
  ObjectPtr object = make(kind);
  budget.step(values.size());
  for (Value& value : values) object->push(std::move(value));
  return Value::object(std::move(object));
}

void Runtime::set(Object& object, const Value& key, Value value) {
  std::string tag;
  if (!key_tag(key, tag)) fail(fmt::format("unhashable type as a key: '{}'", type_name(key)));
  object.set(key, std::move(value));
}

void Runtime::will_mutate(const ObjectPtr& object) {
  budget.step();
  if (object->mutated) return;
  object->mutated = true;
  mutated.push_back(object);
}

std::vector<Value> Runtime::iterate(const Value& value) {
  if (value.is_undefined()) return {};
  if (value.is_text()) {
    const Text& text_value = value.as_text();
    budget.step(text_value.size());
    std::vector<Value> characters;
    for (std::size_t at = 0; at < text_value.size();) {
      const std::size_t next = at + code_point_at(text_value.bytes(), at).bytes;
      characters.push_back(text(text_value.slice(at, next)));
      at = next;
    }
    return characters;
  }
  const Object* object = value.as_object();
  if (object != nullptr && object->is_sequence()) {
    budget.step(object->values.size());
    return object->values;
  }
  if (object != nullptr && object->is_mapping()) {
    budget.step(object->keys.size());
    return object->keys;
  }
  fail(fmt::format("'{}' object is not iterable", type_name(value)));
}

Value Runtime::attribute(const Value& object_value, std::string_view name) {
  if (object_value.is_undefined()) fail(object_value.hint());
  if (const Native method = find_method(object_value, name)) {
    ObjectPtr bound = make(ObjectKind::function);
    bound->native = method;
    bound->name = name;
    bound->push(object_value);
    return Value::object(std::move(bound));
  }
  if (const Object* object = object_value.as_object()) {
    if (object->kind == ObjectKind::loop) return loop_attribute(*object, name);
    if (const Value* found = object->find(text_tag(name))) return *found;
  }
  return Value::undefined(
      fmt::format("'{} object' has no attribute '{}'", type_name(object_value), name));
}

Value Runtime::item(const Value& object_value, const Value& key) {
  if (object_value.is_undefined()) fail(object_value.hint());
  const Object* object = object_value.as_object();
  if (key.is_integral()) {
    if (object_value.is_text()) return text_item(*this, object_value.as_text(), key.as_integer());
    if (object != nullptr && object->is_sequence()) {
      const auto count = static_cast<std::int64_t>(object->values.size());
      const std::int64_t at = key.as_integer() < 0 ? key.as_integer() + count : key.as_integer();
      if (at >= 0 && at < count) return object->values[static_cast<std::size_t>(at)];
      return Value::undefined(
          fmt::format("'{} object' has no element {}", type_name(object_value), key.as_integer()));
    }
  }
  std::string tag;
  if (object != nullptr && object->is_mapping() && key_tag(key, tag)) {
    if (const Value* found = object->find(tag)) return *found;
  }
  // Jinja tries the attribute of that name last.
  if (key.is_text()) return attribute(object_value, key.as_text().bytes());
  return Value::undefined(fmt::format("'{} object' has no such element", type_name(object_value)));
}

bool Runtime::contains(const Value& container, const Value& wanted) {
  if (container.is_undefined()) return false;
  if (container.is_text()) {
    if (!wanted.is_text()) {
      fail(fmt::format("'in <string>' requires string as left operand, not {}", type_name(wanted)));
    }
    budget.work(container.as_text().size());
    return find_bytes(container.as_text().bytes(), wanted.as_text().bytes(), 0) !=
           std::string::npos;
  }
  const Object* object = container.as_object();
  if (object != nullptr && object->is_mapping()) {
    std::string tag;
    if (!key_tag(wanted, tag)) fail(fmt::format("unhashable type: '{}'", type_name(wanted)));
    return object->find(tag) != nullptr;
  }
  if (object != nullptr && object->is_sequence()) {
    for (const Value& value : object->values) {
      if (equal(*this, value, wanted)) return true;
    }
    return false;
  }
  fail(fmt::format("argument of type '{}' is not iterable", type_name(container)));
}

std::int64_t Runtime::length(const Value& value) {
  if (value.is_undefined()) return 0;
  if (value.is_text()) {
    budget.work(value.as_text().size());
    return static_cast<std::int64_t>(count_code_points(value.as_text().bytes()));
  }
  const Object* object = value.as_object();
  if (object == nullptr || !(object->is_sequence() || object->is_mapping())) {
    fail(fmt::format("object of type '{}' has no len()", type_name(value)));
  }
  return static_cast<std::int64_t>(object->values.size());
}

const Value* ArgumentReader::take(const char* name) {
  const std::size_t position = next_++;
  if (position < arguments_.positional.size()) return &arguments_.positional[position];
  for (const auto& [given, value] : arguments_.named) {
    if (given == name) {
      ++used_named_;
      return &value;
    }
  }
  return nullptr;
}

const Value& ArgumentReader::required(const char* name) {
  const Value* value = take(name);
  if (value == nullptr) runtime_.fail(fmt::format("{}: argument '{}' is missing", function_, name));
  return *value;
}

const Text* ArgumentReader::text(const char* name) {
  const Value* value = take(name);
  if (value == nullptr || value->is_none()) return nullptr;
  if (!value->is_text()) {
    runtime_.fail(fmt::format("{}: argument '{}': expected a string, got '{}'", function_, name,
                              type_name(*value)));
  }
  return &value->as_text();
}

const Text& ArgumentReader::required_text(const char* name) {
  const Text* value = text(name);
  if (value == nullptr) runtime_.fail(fmt::format("{}: argument '{}' is missing", function_, name));
  return *value;
}

std::int64_t ArgumentReader::integer(const char* name, std::int64_t fallback) {
  const Value* value = take(name);
  if (value == nullptr) return fallback;
  if (!value->is_integral()) {
    runtime_.fail(fmt::format("{}: argument '{}': expected an integer, got '{}'", function_, name,
                              type_name(*value)));
  }
  return value->as_integer();
}

bool ArgumentReader::flag(const char* name, bool fallback) {
  const Value* value = take(name);
  return value == nullptr ? fallback : truthy(*value);
}

void ArgumentReader::finish() const {
  if (arguments_.positional.size() > next_ || arguments_.named.size() > used_named_) {
    runtime_.fail(fmt::format("{}: unexpected argument", function_));
  }
}

}  // namespace r1::text::jinja
