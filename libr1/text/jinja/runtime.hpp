// What filters, tests and methods share during one rendering: budget, place, and helpers for
// values.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/text/jinja/value.hpp"

namespace r1::text::jinja {

/// Values nested deeper than this are not printed or compared.
inline constexpr int kValueDepthMax = 200;

/// State of one rendering. Not thread-safe. Outlives all values made with it.
struct Runtime {
  Budget budget;                 ///< first member: destroyed after every value
  int line = 1;                  ///< of the construct being evaluated
  std::function<std::tm()> now;  ///< time for strftime_now
  std::vector<ObjectPtr>
      mutated;  ///< objects changed after they were made: only they can form cycles

  Runtime() = default;
  /// Takes cycles apart.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Throws Error{template_error} with the line.
  [[noreturn]] void fail(const std::string& message) const;
  /// Throws Error{unsupported} with the line.
  [[noreturn]] void unsupported(const std::string& what) const;

  /// A string value.
  Value text(Text value);
  Value text(std::string_view bytes, Author author) { return text(Text(bytes, author)); }
  /// An empty container.
  ObjectPtr make(ObjectKind kind);
  /// A list or tuple of `values`.
  Value sequence(std::vector<Value> values, ObjectKind kind = ObjectKind::list);
  /// `object[key] = value`; fails for keys that are not hashable.
  void set(Object& object, const Value& key, Value value);
  /// Notes that `object` is about to change.
  void will_mutate(const ObjectPtr& object);

  /// The elements that a `for` sees: items, keys, characters; empty for undefined. Fails otherwise.
  std::vector<Value> iterate(const Value& value);
  /// `object.name` (methods first, then keys) or undefined.
  Value attribute(const Value& object, std::string_view name);
  /// `object[key]` or undefined.
  Value item(const Value& object, const Value& key);
  /// `left in right`.
  bool contains(const Value& container, const Value& item);
  /// Python's len(); fails for values without one.
  std::int64_t length(const Value& value);
};

/// Hands out the arguments of a call by position or name, as Python binds them.
class ArgumentReader {
 public:
  /// `function`: name for errors.
  ArgumentReader(Runtime& runtime, const char* function, const Arguments& arguments)
      : runtime_(runtime), function_(function), arguments_(arguments) {}
  /// The next parameter, or null when it was not given.
  const Value* take(const char* name);
  /// The next parameter; fails when it was not given.
  const Value& required(const char* name);
  /// Typed forms; fail when the argument has another type.
  const Text* text(const char* name);
  const Text& required_text(const char* name);
  std::int64_t integer(const char* name, std::int64_t fallback);
  bool flag(const char* name, bool fallback);
  /// Fails when an argument is left over.
  void finish() const;

 private:
  Runtime& runtime_;
  const char* function_;
  const Arguments& arguments_;
  std::size_t next_ = 0;
  std::size_t used_named_ = 0;
};

/// Filter of this name, or null.
Native find_filter(std::string_view name);
/// Test of this name, or null.
NativeTest find_test(std::string_view name);
/// Method `name` of a string, list or dict, or null.
Native find_method(const Value& self, std::string_view name);
/// Global function of this name, or null.
Native find_function(std::string_view name);

/// Slots that single files of filters fill; see filters.cpp.
Native find_text_filter(std::string_view name);
Native find_sequence_filter(std::string_view name);
Native find_number_filter(std::string_view name);
/// Methods of strings; see methods_text.cpp.
Native find_text_method(std::string_view name);

/// Python's `template % values`.
Text format_percent(Runtime& runtime, const Text& format, const Value& values);
/// Python's str.format, without format specifications.
Text format_braces(Runtime& runtime, const Text& format, const Arguments& arguments);
/// json.dumps(value, ensure_ascii=False, ...); `indent` below 0: one line.
struct JsonStyle {
  int indent = -1;
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool default_separators = true;  ///< with an indent, Python then drops the blank after commas
};
Text to_json(Runtime& runtime, const Value& value, const JsonStyle& style);
/// Values of a JSON text; its strings are the conversation's. Throws Error{invalid_argument} with
/// `what` for bad JSON, or JSON deeper than half of kValueDepthMax.
Value from_json(Runtime& runtime, std::string_view json, const std::string& what);

}  // namespace r1::text::jinja
