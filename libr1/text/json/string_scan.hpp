// The inside of a JSON string (RFC 8259, 7), byte by byte: whole UTF-8 characters, escapes, no
// control characters, no half surrogate pairs.
#pragma once

#include <cstdint>

namespace r1::text::json {

/// Where in a character one stands.
enum class StringScan : std::uint8_t {
  boundary,  ///< between characters
  tail_1,    ///< so many continuation bytes to come
  tail_2,
  tail_3,
  after_e0,  ///< lead bytes that narrow the next byte (Unicode 15, table 3-7)
  after_ed,
  after_f0,
  after_f4,
  escape,     ///< after a backslash
  unicode_1,  ///< so many hex digits read of \uXXXX, less one
  unicode_2,
  unicode_3,
  unicode_4,
  unicode_d,  ///< \ud: a surrogate or not
  high_3,     ///< of a high surrogate: hex digits, then a low surrogate
  high_4,
  low_escape,
  low_u,
  low_d,
  low_2,
  closed,  ///< the quote was read
  broken,  ///< no string goes on so
};

/// The state after `byte`. Precondition: neither closed nor broken. A character is over whenever
/// the result is `boundary`.
StringScan advance(StringScan state, std::uint8_t byte) noexcept;

}  // namespace r1::text::json
