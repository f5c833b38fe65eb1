// Kinds follow the `special` flags of tokenizer.json, as GGUF converters map them: special ones are
// control, the others user-defined.
#include "libr1/text/well_known_tokens.hpp"

namespace r1::text {
namespace {

constexpr WellKnownToken kWellKnownTokens[] = {
    {kR1Begin, TokenKind::control},
    {kR1End, TokenKind::control},
    {"<｜User｜>", TokenKind::user_defined},
    {kR1Assistant, TokenKind::user_defined},
    {kEot, TokenKind::user_defined},
    {kThinkOpen, TokenKind::user_defined},
    {"</think>", TokenKind::user_defined},
    {kEndOfText, TokenKind::control},
    {kImStart, TokenKind::control},
    {kImEnd, TokenKind::control},
    {"<|object_ref_start|>", TokenKind::control},
    {"<|object_ref_end|>", TokenKind::control},
    {"<|box_start|>", TokenKind::control},
    {"<|box_end|>", TokenKind::control},
    {"<|quad_start|>", TokenKind::control},
    {"<|quad_end|>", TokenKind::control},
    {"<|vision_start|>", TokenKind::control},
    {"<|vision_end|>", TokenKind::control},
    {"<|vision_pad|>", TokenKind::control},
    {"<|image_pad|>", TokenKind::control},
    {"<|video_pad|>", TokenKind::control},
    {"<tool_call>", TokenKind::user_defined},
    {"</tool_call>", TokenKind::user_defined},
    {"<tool_response>", TokenKind::user_defined},
    {"</tool_response>", TokenKind::user_defined},
    {"<|fim_prefix|>", TokenKind::user_defined},
    {"<|fim_middle|>", TokenKind::user_defined},
    {"<|fim_suffix|>", TokenKind::user_defined},
    {"<|fim_pad|>", TokenKind::user_defined},
    {"<|repo_name|>", TokenKind::user_defined},
    {"<|file_sep|>", TokenKind::user_defined},
};

}  // namespace

std::span<const WellKnownToken> well_known_tokens() noexcept { return kWellKnownTokens; }

}  // namespace r1::text
