// Spellings, kinds and merges. Words are pairs of letters, which the merges make, and pairs of
// those, which only generation shows.
#include "libr1/model/synthetic_vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "libr1/text/byte_alphabet.hpp"
#include "libr1/text/default_templates.hpp"
#include "libr1/text/utf8.hpp"
#include "libr1/text/well_known_tokens.hpp"

namespace r1::model {
namespace {

// added_tokens of the tokenizer.json of Qwen2.5 and of the DeepSeek-R1 distills, by id from 151643;
// the families differ in the first seven.
constexpr std::array<std::string_view, 7> kQwenTokens = {
    "<|endoftext|>",      "<|im_start|>",  "<|im_end|>",  "<|object_ref_start|>",
    "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",
};
constexpr std::array<std::string_view, 7> kR1Tokens = {
    text::kR1End, "<｜User｜>",     text::kR1Assistant, text::kR1Begin,
    text::kEot,   text::kThinkOpen, "</think>",
};
constexpr std::array<std::string_view, 15> kCommonTokens = {
    "<|quad_start|>", "<|quad_end|>",   "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|image_pad|>",  "<|video_pad|>",  "<tool_call>",      "</tool_call>",   "<|fim_prefix|>",
    "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",      "<|repo_name|>",  "<|file_sep|>",
};
static_assert(kQwenTokens.size() + kCommonTokens.size() == kAddedTokens);

constexpr int kLetters = 26;
constexpr int kPairs = kLetters * kLetters;

std::string letter_pair(std::int64_t index) {
  return {static_cast<char>('a' + index / kLetters), static_cast<char>('a' + index % kLetters)};
}

/// "aa" to "zz", then "aaaa" and on.
std::string word(std::int64_t index) {
  if (index < kPairs) return letter_pair(index);
  const std::int64_t rest = index - kPairs;
  return letter_pair(rest / kPairs) + letter_pair(rest % kPairs);
}

class TokenList {
 public:
  void add(std::string spelling, text::TokenKind kind) {
    tokens.push_back(std::move(spelling));
    kinds.push_back(static_cast<std::int32_t>(kind));
  }
  void add_known(std::span<const std::string_view> spellings) {
    for (const std::string_view spelling : spellings) {
      const auto known = text::well_known_tokens();
      const auto found = std::find_if(known.begin(), known.end(), [&](const auto& token) {
        return token.spelling == spelling;
      });
      add(std::string(spelling), found->kind);
    }
  }
  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }

  std::vector<std::string> tokens;
  std::vector<std::int32_t> kinds;
};

}  // namespace

void add_vocabulary(gguf::Writer& writer, TokenFamily family, std::int64_t named,
                    std::int64_t rows) {
  const bool r1 = family == TokenFamily::r1;
  TokenList list;
  for (int byte = 0; byte < 256; ++byte) {
    std::string letter;
    text::append_utf8(letter, text::byte_to_letter(static_cast<std::uint8_t>(byte)));
    list.add(std::move(letter), text::TokenKind::normal);
  }
  std::vector<std::string> merges;
  for (std::int64_t i = 0; list.size() < named - kAddedTokens; ++i) {
    const std::string spelling = word(i);
    if (i < kPairs) merges.push_back({spelling[0], ' ', spelling[1]});
    list.add(spelling, text::TokenKind::normal);
  }
  const auto first_added = static_cast<std::uint32_t>(list.size());
  list.add_known(r1 ? kR1Tokens : kQwenTokens);
  list.add_known(kCommonTokens);
  while (list.size() < rows) list.add(fmt::format("[PAD{}]", list.size()), text::TokenKind::unused);

  writer.add("tokenizer.ggml.model", std::string("gpt2"));
  writer.add("tokenizer.ggml.pre", std::string(r1 ? "deepseek-r1-qwen" : "qwen2"));
  writer.add("tokenizer.ggml.tokens", std::move(list.tokens));
  writer.add("tokenizer.ggml.token_type", std::move(list.kinds));
  writer.add("tokenizer.ggml.merges", std::move(merges));
  // As the families' files have them: Qwen2.5 ends with <|im_end|> and never uses its BOS.
  writer.add("tokenizer.ggml.bos_token_id", first_added + (r1 ? 3 : 0));
  writer.add("tokenizer.ggml.eos_token_id", first_added + (r1 ? 0 : 2));
  writer.add("tokenizer.ggml.padding_token_id", first_added);
  writer.add("tokenizer.ggml.add_bos_token", r1);
  writer.add("tokenizer.chat_template",
             std::string(r1 ? text::default_r1_template() : text::default_chatml_template()));
}

}  // namespace r1::model
