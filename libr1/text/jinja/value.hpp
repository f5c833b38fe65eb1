// The values of a template: Python's, as far as templates see them, under a budget of steps and
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "libr1/text/jinja/marked_text.hpp"

namespace r1::text::jinja {

struct Runtime;
struct Statement;
struct Object;
class Value;
using TextPtr = std::shared_ptr<const Text>;
using ObjectPtr = std::shared_ptr<Object>;

/// What one rendering may still use. All members throw LimitExceeded.
class Budget {
 public:
  /// Ten million steps: a prompt of a thousand messages takes about a hundred thousand.
  static constexpr std::uint64_t kSteps = 10'000'000;
  /// Bytes of live values.
  static constexpr std::size_t kBytes = std::size_t{256} << 20;

  explicit Budget(std::uint64_t steps = kSteps, std::size_t bytes = kBytes)
      : steps_(steps), steps_max_(steps), bytes_max_(bytes) {}
  /// Uses `count` steps.
  void step(std::uint64_t count = 1);
  /// Uses steps for work on so many bytes (one a kilobyte).
  void work(std::size_t bytes) { step(1 + (bytes >> 10)); }
  /// Accounts for bytes that a new value keeps, until release().
  void hold(std::size_t bytes);
  void release(std::size_t bytes) noexcept { held_ -= bytes; }

 private:
  std::uint64_t steps_;
  std::uint64_t steps_max_;
  std::size_t bytes_max_;
  std::size_t held_ = 0;
};

/// Kinds of values.
enum class Kind { undefined, none, boolean, integer, number, text, object };

/// A value; cheap to copy. Lists, dicts and namespaces are shared by copies, as in Python.
class Value {
 public:
  /// Undefined without a hint.
  Value() = default;
  /// Undefined; `hint` is what an error says about it.
  static Value undefined(std::string hint);
  static Value none() { return make<None>(); }
  static Value boolean(bool value) { return make<bool>(value); }
  static Value integer(std::int64_t value) { return make<std::int64_t>(value); }
  static Value number(double value) { return make<double>(value); }
  static Value text(TextPtr value) { return make<TextPtr>(std::move(value)); }
  static Value object(ObjectPtr value) { return make<ObjectPtr>(std::move(value)); }

  Kind kind() const noexcept { return static_cast<Kind>(data_.index()); }
  bool is(Kind kind_wanted) const noexcept { return kind() == kind_wanted; }
  bool is_undefined() const noexcept { return is(Kind::undefined); }
  bool is_none() const noexcept { return is(Kind::none); }
  bool is_text() const noexcept { return is(Kind::text); }
  /// Booleans too, as in Python.
  bool is_integral() const noexcept { return is(Kind::integer) || is(Kind::boolean); }
  bool is_numeric() const noexcept { return is_integral() || is(Kind::number); }

  /// The payload; the kind must fit (as_integer: integral; as_number: numeric).
  bool as_boolean() const { return std::get<bool>(data_); }
  std::int64_t as_integer() const;
  double as_number() const;
  const Text& as_text() const { return *std::get<TextPtr>(data_); }
  const TextPtr& text_ptr() const { return std::get<TextPtr>(data_); }
  /// Null unless this is an object.
  Object* as_object() const noexcept;
  ObjectPtr object_ptr() const { return std::get<ObjectPtr>(data_); }
  /// What an error says about an undefined value.
  std::string hint() const;

 private:
  struct None {};
  struct Missing {
    std::shared_ptr<const std::string> hint;
  };
  using Data = std::variant<Missing, None, bool, std::int64_t, double, TextPtr, ObjectPtr>;
  /// In place: GCC 12 under sanitizers takes a moved variant for uninitialized.
  template <class T, class... Args>
  explicit Value(std::in_place_type_t<T> type, Args&&... args)
      : data_(type, std::forward<Args>(args)...) {}
  template <class T, class... Args>
  static Value make(Args&&... args) {
    return Value(std::in_place_type<T>, std::forward<Args>(args)...);
  }
  friend struct Object;
  Data data_;
};

/// Arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// A filter (self: the piped value), a method (self: its object) or a function (self: undefined).
using Native = Value (*)(Runtime& runtime, const Value& self, const Arguments& arguments);
/// A test behind `is`.
using NativeTest = bool (*)(Runtime& runtime, const Value& self, const Arguments& arguments);

/// Kinds of objects.
enum class ObjectKind { list, tuple, dict, name_space, loop, function };

/// A container or a callable. Destruction uses no recursion, however deep it is.
struct Object {
  Object(ObjectKind object_kind, Budget* owner) : kind(object_kind), budget(owner) {}
  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  /// Adds an element to a list or tuple.
  void push(Value value);
  /// Sets `dict[key]`; the key must have a tag (see key_tag).
  void set(const Value& key, Value value);
  /// Value of a key with this tag, or null.
  const Value* find(const std::string& tag) const;
  bool is_sequence() const noexcept {
    return kind == ObjectKind::list || kind == ObjectKind::tuple;
  }
  bool is_mapping() const noexcept { return kind == ObjectKind::dict; }

  ObjectKind kind;
  Budget* budget;  ///< null: not accounted for
  std::size_t held = 0;
  bool mutated = false;       ///< listed in Runtime::mutated
  std::vector<Value> values;  ///< elements; a dict's values; {items} of a loop; {self} of a method
  std::vector<Value> keys;    ///< of a dict or namespace, in order of insertion
  std::unordered_map<std::string, std::size_t> index;  ///< key tag -> position
  std::int64_t position = 0;                           ///< of a loop
  Native native = nullptr;                             ///< of a function
  const Statement* macro = nullptr;                    ///< of a macro
  std::string name;                                    ///< of a function or macro
};

/// A string equal for equal keys (1, 1.0 and true are one key in Python). False: not hashable.
bool key_tag(const Value& key, std::string& tag);
/// The tag of a string key.
std::string text_tag(std::string_view bytes);
/// Python's name of a value's type: 'str', 'dict', ...
const char* type_name(const Value& value) noexcept;
/// Python's truth of a value.
bool truthy(const Value& value) noexcept;
/// Python's `==`.
bool equal(Runtime& runtime, const Value& left, const Value& right);
/// Python's `<`; fails for kinds that have no order.
bool less(Runtime& runtime, const Value& left, const Value& right);
/// Python's str(); undefined becomes empty.
Text to_text(Runtime& runtime, const Value& value);
/// Python's repr() of a float.
std::string float_repr(double value);

}  // namespace r1::text::jinja
