// What the tokenizer asks about characters: the classes of the Qwen2 split rule, and Unicode's
// canonical composition (NFC). Both follow Hugging Face's tokenizers library, whose regex engine
// (Unicode 16) and normaliser (Unicode 9) are of different age; unicode_data.cpp was read off it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace r1::text {

/// Class of a character in the split rule. Each character has exactly one.
enum class CharClass : std::uint8_t {
  letter,   ///< \p{L}
  number,   ///< \p{N}
  newline,  ///< \r and \n
  space,    ///< \s but for \r and \n
  other,    ///< everything else: punctuation, symbols, combining marks, unassigned
};

/// Class of a code point; `other` for values that are no scalar value. Any thread.
CharClass char_class(char32_t code_point) noexcept;

/// True when `code_point` may change under NFC or compose with, or move against, what stands before
/// it. Text without such a character is its own NFC.
bool is_nfc_unsafe(char32_t code_point) noexcept;

/// The NFC form of `text`. Bytes that are not UTF-8 stay as they are, and what stands on either
/// side of them does not compose. O(n log n) for n combining marks in a row, else linear; constant
/// stack.
std::string nfc(std::string_view text);

/// True when `text` has no character that is_nfc_unsafe, so nfc(text) == text. False may also mean
/// that nothing would change.
bool is_nfc_quick(std::string_view text) noexcept;

}  // namespace r1::text
