// Code points inside UTF-8 bytes, as Python's str counts them. A byte that is not part of valid
// UTF-8 counts as one character, so that damaged input never fails here.
#pragma once

#include <cstddef>
#include <string_view>

namespace r1::text::jinja {

/// A code point and the bytes it takes.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = true;  ///< false: `value` is the raw byte
};

/// The code point at `offset` < bytes.size().
CodePoint code_point_at(std::string_view bytes, std::size_t offset) noexcept;
/// Number of code points.
std::size_t count_code_points(std::string_view bytes) noexcept;
/// Python's str.isspace for one character.
bool is_space(char32_t value) noexcept;
/// Offset of the first byte of `bytes` that is not white space, or bytes.size().
std::size_t skip_space(std::string_view bytes) noexcept;
/// Length of `bytes` without white space at its end.
std::size_t trimmed_length(std::string_view bytes) noexcept;
/// Start of the code point that ends just before `end` > 0.
std::size_t previous_code_point(std::string_view bytes, std::size_t end) noexcept;
/// First place of `needle` at or after `from`, or npos. Linear time whatever the bytes are.
std::size_t find_bytes(std::string_view bytes, std::string_view needle, std::size_t from) noexcept;

}  // namespace r1::text::jinja
