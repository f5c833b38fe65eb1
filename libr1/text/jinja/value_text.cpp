// Values as text (Python's str and repr), and their equality and order.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "libr1/text/jinja/runtime.hpp"
#include "libr1/text/jinja/utf8.hpp"

namespace r1::text::jinja {
namespace {

void require_depth(int depth) {
  if (depth > kValueDepthMax) {
    throw LimitExceeded{fmt::format("{} levels of nested values", kValueDepthMax)};
  }
}

/// Python's repr of a string; characters that it would escape and that are above U+00FF stay.
Text text_repr(const Text& text) {
  const std::string& bytes = text.bytes();
  const bool double_quotes =
      bytes.find('\'') != std::string::npos && bytes.find('"') == std::string::npos;
  const char quote = double_quotes ? '"' : '\'';
  Text out(std::string(1, quote), Author::conversation);
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = code_point_at(bytes, at);
    const Author author = text.author_at(at);
    const bool control = c.value < 0x20 || (c.value >= 0x7F && c.value <= 0xA0) || c.value == 0xAD;
    if (c.value == '\\' || c.value == static_cast<unsigned char>(quote)) {
      out.append(std::string{'\\', static_cast<char>(c.value)}, author);
    } else if (c.value == '\n') {
      out.append("\\n", author);
    } else if (c.value == '\r') {
      out.append("\\r", author);
    } else if (c.value == '\t') {
      out.append("\\t", author);
    } else if (control) {
      out.append(fmt::format("\\x{:02x}", static_cast<unsigned>(c.value)), author);
    } else {
      out.append(text, at, at + c.bytes);
    }
    at += c.bytes;
  }
  out.append(std::string(1, quote), Author::conversation);
  return out;
}

void append_repr(Runtime& runtime, const Value& value, Text& out, int depth);

void append_container(Runtime& runtime, const Object& object, Text& out, int depth) {
  require_depth(depth);
  const bool list = object.kind == ObjectKind::list;
  const bool tuple = object.kind == ObjectKind::tuple;
  const Author author = Author::conversation;
  out.append(list                              ? "["
             : tuple                           ? "("
             : object.kind == ObjectKind::dict ? "{"
                                               : "<Namespace {",
             author);
  for (std::size_t i = 0; i < object.values.size(); ++i) {
    if (i > 0) out.append(", ", author);
    if (!list && !tuple) {
      append_repr(runtime, object.keys[i], out, depth + 1);
      out.append(": ", author);
    }
    append_repr(runtime, object.values[i], out, depth + 1);
  }
  if (tuple && object.values.size() == 1) out.append(",", author);
  out.append(list ? "]" : tuple ? ")" : object.kind == ObjectKind::dict ? "}" : "}>", author);
}

void append_repr(Runtime& runtime, const Value& value, Text& out, int depth) {
  runtime.budget.step();
  if (value.is_undefined()) return out.append("Undefined", Author::conversation);
  if (value.is_text()) {
    runtime.budget.work(value.as_text().size());
    return out.append(text_repr(value.as_text()));
  }
  const Object* object = value.as_object();
  if (object == nullptr) return out.append(to_text(runtime, value));
  if (object->kind == ObjectKind::function || object->kind == ObjectKind::loop) {
    return out.append(fmt::format("<{} {}>", type_name(value), object->name), Author::conversation);
  }
  append_container(runtime, *object, out, depth);
}

bool equal_at(Runtime& runtime, const Value& left, const Value& right, int depth) {
  runtime.budget.step();
  if (left.is_integral() && right.is_integral()) return left.as_integer() == right.as_integer();
  if (left.is_numeric() && right.is_numeric()) return left.as_number() == right.as_number();
  if (left.kind() != right.kind()) return false;
  if (left.is_text()) return left.as_text().bytes() == right.as_text().bytes();
  const Object* a = left.as_object();
  const Object* b = right.as_object();
  if (a == b) return true;  // undefined and none have no object: they equal themselves
  if (a->kind != b->kind || a->values.size() != b->values.size()) return false;
  require_depth(depth);
  if (a->is_sequence()) {
    for (std::size_t i = 0; i < a->values.size(); ++i) {
      if (!equal_at(runtime, a->values[i], b->values[i], depth + 1)) return false;
    }
    return true;
  }
  if (!a->is_mapping()) return false;
  for (const auto& [tag, position] : a->index) {
    const Value* other = b->find(tag);
    if (other == nullptr || !equal_at(runtime, a->values[position], *other, depth + 1))
      return false;
  }
  return true;
}

bool less_at(Runtime& runtime, const Value& left, const Value& right, int depth) {
  runtime.budget.step();
  require_depth(depth);
  if (left.is_integral() && right.is_integral()) return left.as_integer() < right.as_integer();
  if (left.is_numeric() && right.is_numeric()) return left.as_number() < right.as_number();
  if (left.is_text() && right.is_text()) return left.as_text().bytes() < right.as_text().bytes();
  const Object* a = left.as_object();
  const Object* b = right.as_object();
  if (a == nullptr || b == nullptr || !a->is_sequence() || a->kind != b->kind) {
    if (left.is_undefined()) runtime.fail(left.hint());
    if (right.is_undefined()) runtime.fail(right.hint());
    runtime.fail(fmt::format("'{}' and '{}' have no order", type_name(left), type_name(right)));
  }
  const std::size_t common = std::min(a->values.size(), b->values.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (!equal_at(runtime, a->values[i], b->values[i], depth + 1)) {
      return less_at(runtime, a->values[i], b->values[i], depth + 1);
    }
  }
  return a->values.size() < b->values.size();
}

}  // namespace

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  // Shortest digits that read back the same, as Python's repr; it switches to exponents at 1e16 and
  // 1e-4.
  auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string scientific(buffer, end);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  if (value != 0 && (exponent < -4 || exponent >= 16)) return scientific;
  end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  std::string fixed(buffer, end);
  if (fixed.find('.') == std::string::npos) fixed += ".0";
  return fixed;
}

Text to_text(Runtime& runtime, const Value& value) {
  const auto plain = [](std::string_view bytes) { return Text(bytes, Author::conversation); };
  switch (value.kind()) {
    case Kind::undefined:
      return {};
    case Kind::none:
      return plain("None");
    case Kind::boolean:
      return plain(value.as_boolean() ? "True" : "False");
    case Kind::integer:
      return plain(std::to_string(value.as_integer()));
    case Kind::number:
      return plain(float_repr(value.as_number()));
    case Kind::text:
      return value.as_text();
    case Kind::object:
      break;
  }
  Text out;
  append_repr(runtime, value, out, 0);
  return out;
}

bool equal(Runtime& runtime, const Value& left, const Value& right) {
  return equal_at(runtime, left, right, 0);
}

bool less(Runtime& runtime, const Value& left, const Value& right) {
  return less_at(runtime, left, right, 0);
}

}  // namespace r1::text::jinja
