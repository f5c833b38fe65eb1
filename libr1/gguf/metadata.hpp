// The key-value part of one GGUF file. Scalars are kept; strings and arrays stay in the file and
// are read when they are asked for, so that a header costs memory for its keys only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/gguf/byte_cursor.hpp"
#include "libr1/gguf/name_index.hpp"
#include "libr1/gguf/reader.hpp"
#include "libr1/gguf/value.hpp"

namespace r1::gguf {

/// One key and where its value is.
struct MetadataEntry {
  std::string key;
  ValueType type = ValueType::uint8;
  ValueType element = ValueType::uint8;  ///< of arrays: type of the elements
  std::uint64_t count = 0;               ///< of arrays: number of elements
  std::uint64_t bits = 0;  ///< of scalars: the value's bytes, little-endian, zero-extended
  std::int64_t begin = 0;  ///< position of the value in the file (arrays: of the first element)
  std::int64_t end = 0;    ///< position behind the value
};

/// Bytes of a scalar type; 0 for strings, arrays and numbers that are no type.
int scalar_bytes(ValueType type) noexcept;

/// All entries of a file, checked: types, lengths, unique keys. Const members are thread-safe.
/// Every get throws Error{bad_file} when the key has a type that does not convert, and gives
/// nothing when there is no such key.
class Metadata {
 public:
  Metadata() = default;
  /// Parses `count` entries from the cursor. Throws Error{bad_file}.
  Metadata(Cursor& cursor, std::uint64_t count);
  Metadata(Metadata&&) = default;
  Metadata& operator=(Metadata&&) = default;

  /// In file order.
  const std::vector<MetadataEntry>& entries() const noexcept { return entries_; }
  /// Null when there is none.
  const MetadataEntry* find(std::string_view key) const;

  /// `source` is the file that was parsed; see Reader for the getters.
  std::optional<std::int64_t> get_int(const Source& source, std::string_view key) const;
  std::optional<double> get_float(const Source& source, std::string_view key) const;
  std::optional<bool> get_bool(const Source& source, std::string_view key) const;
  std::optional<std::string> get_string(const Source& source, std::string_view key) const;
  std::optional<std::vector<std::string>> get_strings(const Source& source,
                                                      std::string_view key) const;
  std::optional<std::vector<std::int64_t>> get_ints(const Source& source,
                                                    std::string_view key) const;
  std::optional<std::vector<double>> get_floats(const Source& source, std::string_view key) const;
  std::optional<Value> get(const Source& source, std::string_view key) const;

 private:
  std::vector<MetadataEntry> entries_;
  NameIndex index_;
};

}  // namespace r1::gguf
