// JSON out (as Transformers' tojson writes it) and in. Both are bounded in depth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libr1/text/jinja/runtime.hpp"
#include "libr1/text/jinja/utf8.hpp"
#include "r1/error.hpp"

namespace r1::text::jinja {
namespace {

class Writer {
 public:
  Writer(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}

  void write(const Value& value, int depth) {
    runtime_.budget.step();
    switch (value.kind()) {
      case Kind::none:
        return plain("null");
      case Kind::boolean:
        return plain(value.as_boolean() ? "true" : "false");
      case Kind::integer:
        return plain(std::to_string(value.as_integer()));
      case Kind::number:
        return number(value.as_number());
      case Kind::text:
        return string(value.as_text());
      case Kind::undefined:
        break;
      case Kind::object: {
        const Object& object = *value.as_object();
        if (!object.is_sequence() && !object.is_mapping()) break;
        if (depth > kValueDepthMax) throw LimitExceeded{"200 levels of nested values"};
        return container(object, depth);
      }
    }
    runtime_.fail(
        fmt::format("tojson: object of type {} is not JSON serializable", type_name(value)));
  }

  Text take() { return std::move(out_); }

 private:
  // Punctuation cannot be part of a control token's name on its own; it counts as conversation.
  void plain(std::string_view bytes) { out_.append(bytes, Author::conversation); }

  void number(double value) {
    if (std::isnan(value)) return plain("NaN");
    if (std::isinf(value)) return plain(value > 0 ? "Infinity" : "-Infinity");
    plain(float_repr(value));
  }

  void new_line(int depth) {
    if (style_.indent < 0) return;
    plain("\n");
    plain(std::string(static_cast<std::size_t>(style_.indent * depth), ' '));
  }

  void container(const Object& object, int depth) {
    const bool list = object.is_sequence();
    if (object.values.empty()) return plain(list ? "[]" : "{}");
    plain(list ? "[" : "{");
    std::vector<std::size_t> order(object.values.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (!list && style_.sort_keys) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return less(runtime_, object.keys[a], object.keys[b]);
      });
    }
    // Python drops the blank after a comma at the end of an indented line.
    std::string separator = style_.item_separator;
    if (style_.indent >= 0 && style_.default_separators) separator = ",";
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) plain(separator);
      new_line(depth + 1);
      if (!list) {
        key(object.keys[order[i]]);
        plain(style_.key_separator);
      }
      write(object.values[order[i]], depth + 1);
    }
    new_line(depth);
    plain(list ? "]" : "}");
  }

  void key(const Value& value) {
    if (value.is_text()) return string(value.as_text());
    plain("\"");
    write(value, kValueDepthMax);
    plain("\"");
  }

  void string(const Text& text) {
    const std::string& bytes = text.bytes();
    runtime_.budget.work(bytes.size());
    plain("\"");
    std::size_t copied = 0;
    for (std::size_t at = 0; at < bytes.size();) {
      const CodePoint c = code_point_at(bytes, at);
      const std::string escaped = escape(c);
      if (!escaped.empty()) {
        out_.append(text, copied, at);
        out_.append(escaped, text.author_at(at));
        copied = at + c.bytes;
      }
      at += c.bytes;
    }
    out_.append(text, copied, bytes.size());
    plain("\"");
  }

  /// Empty: stands for itself.
  std::string escape(const CodePoint& c) const {
    switch (c.value) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '\t':
        return "\\t";
      case '\b':
        return "\\b";
      case '\f':
        return "\\f";
      default:
        break;
    }
    const auto value = static_cast<unsigned>(c.value);
    if (value < 0x20) return fmt::format("\\u{:04x}", value);
    if (!style_.ensure_ascii || !c.valid || value < 0x7F) return {};
    if (value < 0x10000) return fmt::format("\\u{:04x}", value);
    const unsigned rest = value - 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  Text out_;
};

/// Builds values while nlohmann's parser, which does not recurse, reports what it sees.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(Runtime& runtime) : runtime_(runtime) {}

  bool null() override { return add(Value::none()); }
  bool boolean(bool value) override { return add(Value::boolean(value)); }
  bool number_integer(number_integer_t value) override { return add(Value::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(INT64_MAX)) {
      return add(Value::integer(static_cast<std::int64_t>(value)));
    }
    return add(Value::number(static_cast<double>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add(Value::number(value));
  }
  bool string(string_t& value) override { return add(runtime_.text(value, Author::conversation)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(ObjectKind::dict); }
  bool start_array(std::size_t) override { return open(ObjectKind::list); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    keys_.back() = runtime_.text(value, Author::conversation);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem = fmt::format("expected JSON, got something else at byte {}", position);
    return false;
  }

  std::string problem;
  Value result;

 private:
  bool add(Value value) {
    if (open_.empty()) {
      result = std::move(value);
    } else if (open_.back()->is_mapping()) {
      open_.back()->set(keys_.back(), std::move(value));
    } else {
      open_.back()->push(std::move(value));
    }
    return true;
  }
  bool open(ObjectKind kind) {
    if (open_.size() >= static_cast<std::size_t>(kValueDepthMax / 2)) {
      problem = fmt::format("expected at most {} nested levels, got more", kValueDepthMax / 2);
      return false;
    }
    ObjectPtr object = runtime_.make(kind);
    add(Value::object(object));
    open_.push_back(std::move(object));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  Runtime& runtime_;
  std::vector<ObjectPtr> open_;
  std::vector<Value> keys_;
};

}  // namespace

Text to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  Writer writer(runtime, style);
  writer.write(value, 0);
  return writer.take();
}

Value from_json(Runtime& runtime, std::string_view json, const std::string& what) {
  Reader reader(runtime);
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
    throw Error(ErrorCode::invalid_argument, what + ": " + reader.problem);
  }
  return reader.result;
}

}  // namespace r1::text::jinja
