// Spellings that the Qwen2 family and the R1 distills give to their added tokens.
#pragma once

#include <span>
#include <string_view>

#include "libr1/text/tokenizer.hpp"

namespace r1::text {

/// Begins every text of an R1 distill.
inline constexpr std::string_view kR1Begin = "<｜begin▁of▁sentence｜>";
/// Ends an answer of an R1 distill.
inline constexpr std::string_view kR1End = "<｜end▁of▁sentence｜>";
/// Opens an R1 distill's answer.
inline constexpr std::string_view kR1Assistant = "<｜Assistant｜>";
/// Opens a thought.
inline constexpr std::string_view kThinkOpen = "<think>";
/// Ends a text in Qwen models.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";
/// Opens a ChatML turn.
inline constexpr std::string_view kImStart = "<|im_start|>";
/// Ends a ChatML turn.
inline constexpr std::string_view kImEnd = "<|im_end|>";
/// Ends a turn in an R1 distill.
inline constexpr std::string_view kEot = "<|EOT|>";

/// An added token that files sometimes do not mark as one.
struct WellKnownToken {
  std::string_view spelling;  ///< UTF-8
  TokenKind kind;             ///< control, or user_defined when the model's text may show it
};

/// The added tokens of Qwen2.5, QwQ, Qwen3 and the R1 distills (added_tokens of their
/// tokenizer.json).
std::span<const WellKnownToken> well_known_tokens() noexcept;

}  // namespace r1::text
