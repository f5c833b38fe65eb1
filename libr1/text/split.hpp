// The Qwen2 split rule: cuts text into the words within which byte pairs may merge.
#pragma once

#include <cstddef>
#include <string_view>

namespace r1::text {

/// End of the word that starts at byte `pos` of `text`: what the pattern
///   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|
///   \s*[\r\n]+|\s+(?!\S)|\s+
/// matches there (tokenizer.json of Qwen2). It always matches, so words tile the text. A byte that
/// is not UTF-8 counts as a symbol. Precondition: pos < text.size(), at a word start. Going from
/// word to word takes time linear in the text and constant stack.
std::size_t word_end(std::string_view text, std::size_t pos) noexcept;

}  // namespace r1::text
