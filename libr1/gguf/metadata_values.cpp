// Conversion of metadata values to what a caller asks for. Strings and arrays are read from the
// file here.
#include <fmt/format.h>

#include <bit>
#include <concepts>
#include <type_traits>

#include "libr1/base/checked_math.hpp"
#include "libr1/gguf/limits.hpp"
#include "libr1/gguf/message.hpp"
#include "libr1/gguf/metadata.hpp"

namespace r1::gguf {
namespace {

std::string described(const MetadataEntry& entry) {
  if (entry.type != ValueType::array) return type_name(entry.type);
  return fmt::format("an array of {} {}", entry.count, type_name(entry.element));
}

[[noreturn]] void fail(const Source& source, const MetadataEntry& entry, std::string_view expected,
                       std::string_view got) {
  throw Error(ErrorCode::bad_file,
              fmt::format("{}: byte {}: key {}: expected {}, got {}", source.name(), entry.begin,
                          quote_name(entry.key), expected, got));
}

bool is_int(ValueType type) {
  return scalar_bytes(type) > 0 && type != ValueType::boolean && type != ValueType::float32 &&
         type != ValueType::float64;
}

bool is_number(ValueType type) { return scalar_bytes(type) > 0 && type != ValueType::boolean; }

/// Sign-extends `bits` of an integer type; nothing when it is above int64's range.
std::optional<std::int64_t> as_int(ValueType type, std::uint64_t bits) {
  switch (type) {
    case ValueType::int8:
      return static_cast<std::int8_t>(bits);
    case ValueType::int16:
      return static_cast<std::int16_t>(bits);
    case ValueType::int32:
      return static_cast<std::int32_t>(bits);
    case ValueType::int64:
      return static_cast<std::int64_t>(bits);
    default:
      return base::checked_cast<std::int64_t>(bits);
  }
}

double as_float(ValueType type, std::uint64_t bits) {
  if (type == ValueType::float32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (type == ValueType::float64) return std::bit_cast<double>(bits);
  if (type == ValueType::uint64) return static_cast<double>(bits);
  return static_cast<double>(*as_int(type, bits));
}

/// The bytes of a value as the exact type T.
template <class T>
T as_exact(std::uint64_t bits) {
  if constexpr (std::same_as<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::same_as<T, double>) {
    return std::bit_cast<double>(bits);
  } else if constexpr (std::same_as<T, bool>) {
    return bits != 0;
  } else {
    return static_cast<T>(bits);
  }
}

Cursor value_cursor(const Source& source, const MetadataEntry& entry) {
  Cursor cursor(source, entry.begin, entry.end);
  cursor.context("key " + quote_name(entry.key));
  return cursor;
}

/// All elements of an array of scalars, each through `convert(bits)`.
template <class T, class Convert>
std::vector<T> read_scalars(const Source& source, const MetadataEntry& entry, Convert convert) {
  Cursor cursor = value_cursor(source, entry);
  const int width = scalar_bytes(entry.element);
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(entry.count));
  for (std::uint64_t i = 0; i < entry.count; ++i)
    out.push_back(convert(cursor.bits(width, "array")));
  return out;
}

std::string read_string(const Source& source, const MetadataEntry& entry) {
  return value_cursor(source, entry).string(kStringBytesMax, "string value");
}

std::vector<std::string> read_strings(const Source& source, const MetadataEntry& entry) {
  Cursor cursor = value_cursor(source, entry);
  std::vector<std::string> out;
  out.reserve(static_cast<std::size_t>(entry.count));
  for (std::uint64_t i = 0; i < entry.count; ++i) {
    out.push_back(cursor.string(kStringBytesMax, "string in array"));
  }
  return out;
}

/// The array `entry`, whose elements must pass `fits`. An empty array passes whatever its element
/// type.
template <class Fits>
void require_array(const Source& source, const MetadataEntry& entry, std::string_view expected,
                   Fits fits) {
  if (entry.type != ValueType::array || (entry.count > 0 && !fits(entry.element))) {
    fail(source, entry, expected, described(entry));
  }
}

/// Calls `visit(T{})` with a value of the C++ type of a scalar type or string.
template <class Visit>
Value with_type(ValueType type, Visit visit) {
  switch (type) {
    case ValueType::uint8:
      return visit(std::uint8_t{});
    case ValueType::int8:
      return visit(std::int8_t{});
    case ValueType::uint16:
      return visit(std::uint16_t{});
    case ValueType::int16:
      return visit(std::int16_t{});
    case ValueType::uint32:
      return visit(std::uint32_t{});
    case ValueType::int32:
      return visit(std::int32_t{});
    case ValueType::float32:
      return visit(float{});
    case ValueType::boolean:
      return visit(bool{});
    case ValueType::uint64:
      return visit(std::uint64_t{});
    case ValueType::int64:
      return visit(std::int64_t{});
    case ValueType::float64:
      return visit(double{});
    default:
      return visit(std::string{});
  }
}

}  // namespace

std::optional<std::int64_t> Metadata::get_int(const Source& source, std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (!entry) return std::nullopt;
  if (!is_int(entry->type)) fail(source, *entry, "an integer", described(*entry));
  const auto value = as_int(entry->type, entry->bits);
  if (!value) fail(source, *entry, "an integer below 2^63", fmt::format("{}", entry->bits));
  return value;
}

std::optional<double> Metadata::get_float(const Source& source, std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (!entry) return std::nullopt;
  if (!is_number(entry->type)) fail(source, *entry, "a number", described(*entry));
  return as_float(entry->type, entry->bits);
}

std::optional<bool> Metadata::get_bool(const Source& source, std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (!entry) return std::nullopt;
  if (entry->type != ValueType::boolean) fail(source, *entry, "a bool", described(*entry));
  return entry->bits != 0;
}

std::optional<std::string> Metadata::get_string(const Source& source, std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (!entry) return std::nullopt;
  if (entry->type != ValueType::string) fail(source, *entry, "a string", described(*entry));
  return read_string(source, *entry);
}

std::optional<std::vector<std::string>> Metadata::get_strings(const Source& source,
                                                              std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (!entry) return std::nullopt;
  require_array(source, *entry, "an array of strings",
                [](ValueType type) { return type == ValueType::string; });
  if (entry->count == 0) return std::vector<std::string>();
  return read_strings(source, *entry);
}

std::optional<std::vector<std::int64_t>> Metadata::get_ints(const Source& source,
                                                            std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (!entry) return std::nullopt;
  require_array(source, *entry, "an array of integers or bools",
                [](ValueType type) { return is_int(type) || type == ValueType::boolean; });
  if (entry->count == 0) return std::vector<std::int64_t>();
  return read_scalars<std::int64_t>(source, *entry, [&](std::uint64_t bits) {
    const auto value = as_int(entry->element, bits);
    if (!value) fail(source, *entry, "integers below 2^63", fmt::format("{}", bits));
    return *value;
  });
}

std::optional<std::vector<double>> Metadata::get_floats(const Source& source,
                                                        std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (!entry) return std::nullopt;
  require_array(source, *entry, "an array of numbers", is_number);
  if (entry->count == 0) return std::vector<double>();
  return read_scalars<double>(source, *entry,
                              [&](std::uint64_t bits) { return as_float(entry->element, bits); });
}

std::optional<Value> Metadata::get(const Source& source, std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (!entry) return std::nullopt;
  const bool is_array = entry->type == ValueType::array;
  return with_type(is_array ? entry->element : entry->type, [&](auto sample) -> Value {
    using T = decltype(sample);
    if constexpr (std::same_as<T, std::string>) {
      if (is_array) return read_strings(source, *entry);
      return read_string(source, *entry);
    } else {
      if (is_array) return read_scalars<T>(source, *entry, as_exact<T>);
      return as_exact<T>(entry->bits);
    }
  });
}

}  // namespace r1::gguf
