// Values: accounting, containers without recursion in destructors, keys, truth.
#include "libr1/text/jinja/value.hpp"

#include <fmt/format.h>

#include <cmath>

#include "libr1/text/jinja/utf8.hpp"

namespace r1::text::jinja {
namespace {

// What an element costs: its value, and for a dict key, tag and index entry.
constexpr std::size_t kElementBytes = 48;
constexpr std::size_t kEntryBytes = 192;

}  // namespace

void Budget::step(std::uint64_t count) {
  if (count > steps_) throw LimitExceeded{fmt::format("{} steps", steps_max_)};
  steps_ -= count;
}

void Budget::hold(std::size_t bytes) {
  if (bytes > bytes_max_ - held_) {
    throw LimitExceeded{fmt::format("{} bytes of values", bytes_max_)};
  }
  held_ += bytes;
}

Value Value::undefined(std::string hint) {
  return make<Missing>(Missing{std::make_shared<const std::string>(std::move(hint))});
}

std::int64_t Value::as_integer() const {
  const bool* flag = std::get_if<bool>(&data_);
  return flag != nullptr ? (*flag ? 1 : 0) : std::get<std::int64_t>(data_);
}

double Value::as_number() const {
  const double* number = std::get_if<double>(&data_);
  return number != nullptr ? *number : static_cast<double>(as_integer());
}

Object* Value::as_object() const noexcept {
  const ObjectPtr* object = std::get_if<ObjectPtr>(&data_);
  return object != nullptr ? object->get() : nullptr;
}

std::string Value::hint() const {
  const Missing* missing = std::get_if<Missing>(&data_);
  return missing != nullptr && missing->hint ? *missing->hint : "value is undefined";
}

Object::~Object() {
  if (budget != nullptr) budget->release(held);
  // Children that only this object keeps are emptied here, one after another, so that their own
  // destructors find nothing to descend into.
  std::vector<Value> pending = std::move(values);
  pending.insert(pending.end(), keys.begin(), keys.end());
  keys.clear();
  while (!pending.empty()) {
    const Value value = std::move(pending.back());
    pending.pop_back();
    const ObjectPtr* child = std::get_if<ObjectPtr>(&value.data_);
    if (child == nullptr || child->use_count() != 1) continue;
    Object& object = **child;
    for (Value& inner : object.values) pending.push_back(std::move(inner));
    for (Value& inner : object.keys) pending.push_back(std::move(inner));
    object.values.clear();
    object.keys.clear();
  }
}

void Object::push(Value value) {
  if (budget != nullptr) {
    budget->hold(kElementBytes);
    held += kElementBytes;
  }
  values.push_back(std::move(value));
}

void Object::set(const Value& key, Value value) {
  std::string tag;
  key_tag(key, tag);
  const auto found = index.find(tag);
  if (found != index.end()) {
    values[found->second] = std::move(value);
    return;
  }
  if (budget != nullptr) {
    budget->hold(kEntryBytes + tag.size());
    held += kEntryBytes + tag.size();
  }
  index.emplace(std::move(tag), values.size());
  keys.push_back(key);
  values.push_back(std::move(value));
}

const Value* Object::find(const std::string& tag) const {
  const auto found = index.find(tag);
  return found == index.end() ? nullptr : &values[found->second];
}

std::string text_tag(std::string_view bytes) { return "s" + std::string(bytes); }

bool key_tag(const Value& key, std::string& tag) {
  switch (key.kind()) {
    case Kind::text:
      tag = text_tag(key.as_text().bytes());
      return true;
    case Kind::none:
      tag = "none";
      return true;
    case Kind::boolean:
    case Kind::integer:
      tag = "i" + std::to_string(key.as_integer());
      return true;
    case Kind::number: {
      const double value = key.as_number();
      const bool whole = std::floor(value) == value && std::fabs(value) < 9e15;
      tag =
          whole ? "i" + std::to_string(static_cast<std::int64_t>(value)) : "f" + float_repr(value);
      return true;
    }
    case Kind::undefined:
      tag = "undefined";
      return true;
    case Kind::object:
      break;
  }
  return false;
}

const char* type_name(const Value& value) noexcept {
  switch (value.kind()) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::number:
      return "float";
    case Kind::text:
      return "str";
    case Kind::object:
      break;
  }
  switch (value.as_object()->kind) {
    case ObjectKind::list:
      return "list";
    case ObjectKind::tuple:
      return "tuple";
    case ObjectKind::dict:
      return "dict";
    case ObjectKind::name_space:
      return "Namespace";
    case ObjectKind::loop:
      return "LoopContext";
    case ObjectKind::function:
      return "function";
  }
  return "object";
}

bool truthy(const Value& value) noexcept {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return value.as_integer() != 0;
    case Kind::number:
      return value.as_number() != 0;
    case Kind::text:
      return !value.as_text().empty();
    case Kind::object:
      break;
  }
  const Object& object = *value.as_object();
  const bool container = object.is_sequence() || object.is_mapping();
  return !container || !object.values.empty();
}

}  // namespace r1::text::jinja
