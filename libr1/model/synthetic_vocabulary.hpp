// A made-up vocabulary in Qwen2's layout: the 256 bytes, invented words, a family's added tokens,
// unused rows.
#pragma once

#include <cstdint>

#include "libr1/gguf/writer.hpp"

namespace r1::model {

/// Whose added tokens and begin and end a vocabulary has.
enum class TokenFamily { qwen, r1 };

/// Added tokens of either family.
inline constexpr std::int64_t kAddedTokens = 22;

/// Writes all tokenizer.* keys for `rows` tokens, of which the first `named` have a spelling
/// (278 <= named <= rows and named <= 458,000). The added tokens are the last of those, as in the
/// families' files: with 151,665 named ones they have their true ids.
void add_vocabulary(gguf::Writer& writer, TokenFamily family, std::int64_t named,
                    std::int64_t rows);

}  // namespace r1::model
