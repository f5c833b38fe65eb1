// Parsing of metadata entries: walks over every value once, so that all lengths are known to be
// right.
#include "libr1/gguf/metadata.hpp"

#include <fmt/format.h>

#include "libr1/gguf/limits.hpp"
#include "libr1/gguf/message.hpp"

namespace r1::gguf {
namespace {

ValueType read_type(Cursor& cursor, std::string_view what) {
  const std::int64_t at = cursor.position();
  const std::uint64_t number = cursor.bits(4, what);
  if (number > static_cast<std::uint64_t>(ValueType::float64)) {
    cursor.fail(at, fmt::format("{}: expected 0 to 12, got {}", what, number));
  }
  return static_cast<ValueType>(number);
}

std::uint64_t read_scalar(Cursor& cursor, ValueType type) {
  const std::int64_t at = cursor.position();
  const std::uint64_t bits = cursor.bits(scalar_bytes(type), "value");
  if (type == ValueType::boolean && bits > 1) {
    cursor.fail(at, fmt::format("bool value: expected 0 or 1, got {}", bits));
  }
  return bits;
}

void walk_array(Cursor& cursor, MetadataEntry& entry) {
  const std::int64_t type_at = cursor.position();
  entry.element = read_type(cursor, "type of array elements");
  if (entry.element == ValueType::array) {
    cursor.fail(type_at, "expected an array of scalars or strings, got an array of arrays");
  }
  const std::int64_t count_at = cursor.position();
  entry.count = cursor.bits(8, "array length");
  if (entry.count > kArrayElementsMax) {
    cursor.fail(count_at, fmt::format("array length: expected at most {} elements, got {}",
                                      kArrayElementsMax, entry.count));
  }
  entry.begin = cursor.position();
  if (entry.element == ValueType::string) {
    cursor.require(entry.count * 8, "array of strings");
    for (std::uint64_t i = 0; i < entry.count; ++i) {
      cursor.skip_string(kStringBytesMax, "string in array");
    }
  } else if (entry.element == ValueType::boolean) {
    cursor.require(entry.count, "array of bools");
    for (std::uint64_t i = 0; i < entry.count; ++i) read_scalar(cursor, entry.element);
  } else {
    cursor.skip(entry.count * static_cast<std::uint64_t>(scalar_bytes(entry.element)), "array");
  }
}

}  // namespace

int scalar_bytes(ValueType type) noexcept {
  switch (type) {
    case ValueType::uint8:
    case ValueType::int8:
    case ValueType::boolean:
      return 1;
    case ValueType::uint16:
    case ValueType::int16:
      return 2;
    case ValueType::uint32:
    case ValueType::int32:
    case ValueType::float32:
      return 4;
    case ValueType::uint64:
    case ValueType::int64:
    case ValueType::float64:
      return 8;
    case ValueType::string:
    case ValueType::array:
      break;
  }
  return 0;
}

Metadata::Metadata(Cursor& cursor, std::uint64_t count) {
  std::uint64_t key_bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    MetadataEntry entry;
    const std::int64_t at = cursor.position();
    cursor.context(fmt::format("metadata key {} of {}", i + 1, count));
    entry.key = cursor.string(kKeyBytesMax, "name of key");
    if (entry.key.empty()) {
      cursor.fail(at, fmt::format("name of key: expected 1 to {} bytes, got 0", kKeyBytesMax));
    }
    key_bytes += entry.key.size();
    if (key_bytes > kNameBytesTotalMax) {
      cursor.fail(at, fmt::format("expected at most {} bytes of keys in total, got more",
                                  kNameBytesTotalMax));
    }
    cursor.context("key " + quote_name(entry.key));
    entry.type = read_type(cursor, "type of value");
    entry.begin = cursor.position();
    if (entry.type == ValueType::array) {
      walk_array(cursor, entry);
    } else if (entry.type == ValueType::string) {
      cursor.skip_string(kStringBytesMax, "string value");
    } else {
      entry.bits = read_scalar(cursor, entry.type);
    }
    entry.end = cursor.position();
    entries_.push_back(std::move(entry));
  }
  cursor.context("");
  std::vector<std::string_view> names;
  names.reserve(entries_.size());
  for (const MetadataEntry& entry : entries_) names.push_back(entry.key);
  index_ = NameIndex(names);
  if (const auto twice = index_.duplicate()) {
    const MetadataEntry& second = entries_[twice->second];
    cursor.fail(second.begin,
                fmt::format("key {}: expected every key once, got it as number {} and {}",
                            quote_name(second.key), twice->first + 1, twice->second + 1));
  }
}

const MetadataEntry* Metadata::find(std::string_view key) const {
  const auto at = index_.find(key);
  return at ? &entries_[*at] : nullptr;
}

}  // namespace r1::gguf
