// GPT-2's alphabet: the 256 printable characters that stand for the bytes in spellings of normal
// tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace r1::text {

/// The character that stands for `byte`: itself for printable Latin-1, else U+0100 and up in byte
/// order (bytes_to_unicode of https://github.com/openai/gpt-2/blob/master/src/encoder.py); a space
/// is U+0120.
char32_t byte_to_letter(std::uint8_t byte) noexcept;

/// The bytes that `spelling` stands for; empty optional when it has a character outside the
/// alphabet.
std::optional<std::string> bytes_of_spelling(std::string_view spelling);

}  // namespace r1::text
