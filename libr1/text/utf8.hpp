// UTF-8, one character at a time: decode, check, repair. It never assumes that its input is valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace r1::text {

/// U+FFFD as UTF-8.
inline constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

/// What stands at one place of a text.
enum class Utf8State : std::uint8_t {
  valid,      ///< a whole character
  invalid,    ///< bytes that no continuation can turn into a character
  truncated,  ///< the text ends inside a character that more bytes could complete
};

/// One character, or one stretch of bytes that is none.
struct Utf8Unit {
  char32_t code_point = 0;  ///< meaningful only when valid
  std::uint8_t bytes = 0;   ///< 1 to 4; for broken bytes the maximal subpart (Unicode 15, 3.9)
  Utf8State state = Utf8State::invalid;
};

/// The unit that starts at byte `pos`. Precondition: pos < text.size(). Surrogates, overlong forms
/// and values above U+10FFFF are invalid.
Utf8Unit utf8_at(std::string_view text, std::size_t pos) noexcept;

/// True when `text` is UTF-8 from end to end.
bool is_utf8(std::string_view text) noexcept;

/// Number of bytes at the end of `text` (0 to 3) that are the start of an incomplete character.
std::size_t utf8_incomplete_tail(std::string_view text) noexcept;

/// `text` with every maximal broken stretch replaced by one U+FFFD, as Python's errors="replace"
/// does.
std::string repair_utf8(std::string_view text);

/// `text` as a part of a message's one line: control characters and broken bytes as \xNN, the rest
/// as it is, cut after about 80 bytes. For what files choose freely.
std::string printable(std::string_view text);

/// Appends `code_point` as UTF-8. Precondition: a scalar value (no surrogate, at most U+10FFFF).
void append_utf8(std::string& out, char32_t code_point);

}  // namespace r1::text
