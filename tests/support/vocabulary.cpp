// Builds tokenizer metadata as llama.cpp's converter writes it.
#include "tests/support/vocabulary.hpp"

#include <algorithm>

namespace r1::support {
namespace {

constexpr std::int32_t kNormal = 1;
constexpr std::int32_t kControl = 3;
constexpr std::int32_t kUserDefined = 4;
constexpr std::int32_t kUnused = 5;

std::string utf8(std::uint32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

// GPT-2's byte alphabet: printable bytes stand for themselves, the others get 256, 257, ...
std::string spell(std::string_view bytes) {
  std::string spelled;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const auto printable = [](unsigned b) {
      return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || (b >= 174 && b <= 255);
    };
    if (printable(byte)) {
      spelled += utf8(byte);
      continue;
    }
    std::uint32_t code = 256;
    for (unsigned b = 0; b < byte; ++b) code += printable(b) ? 0 : 1;
    spelled += utf8(code);
  }
  return spelled;
}

struct Added {
  const char* text;
  std::int32_t kind;
};

constexpr Added kR1Tokens[] = {
    {"<｜end▁of▁sentence｜>", kControl}, {"<｜User｜>", kUserDefined},
    {"<｜Assistant｜>", kUserDefined},   {"<｜begin▁of▁sentence｜>", kControl},
    {"<|EOT|>", kUserDefined},           {"<think>", kUserDefined},
    {"</think>", kUserDefined}};
constexpr Added kQwenTokens[] = {{"<|endoftext|>", kControl},
                                 {"<|im_start|>", kControl},
                                 {"<|im_end|>", kControl},
                                 {"<tool_call>", kUserDefined},
                                 {"</tool_call>", kUserDefined}};

}  // namespace

Vocabulary::Vocabulary(Family family) : family_(family) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    bytes_.push_back(bytes);
    tokens_.push_back(spell(bytes));
    kinds_.push_back(kNormal);
  }
  const std::span<const Added> added = family == Family::r1 ? std::span<const Added>(kR1Tokens)
                                                            : std::span<const Added>(kQwenTokens);
  for (const Added& token : added) {
    bytes_.emplace_back(token.text);
    tokens_.emplace_back(token.text);
    kinds_.push_back(token.kind);
  }
}

std::int32_t Vocabulary::id(std::string_view bytes) {
  const auto known = std::find(bytes_.begin(), bytes_.end(), bytes);
  if (known != bytes_.end()) return static_cast<std::int32_t>(known - bytes_.begin());
  bytes_.emplace_back(bytes);
  tokens_.push_back(spell(bytes));
  kinds_.push_back(kNormal);
  return static_cast<std::int32_t>(bytes_.size() - 1);
}

void Vocabulary::write(gguf::Writer& writer, std::int64_t rows) const {
  std::vector<std::string> tokens = tokens_;
  std::vector<std::int32_t> kinds = kinds_;
  while (static_cast<std::int64_t>(tokens.size()) < rows) {
    tokens.push_back("[PAD" + std::to_string(tokens.size()) + "]");
    kinds.push_back(kUnused);
  }
  const auto find = [&](const char* text) {
    return static_cast<std::uint32_t>(std::find(tokens_.begin(), tokens_.end(), text) -
                                      tokens_.begin());
  };
  writer.add("tokenizer.ggml.model", std::string("gpt2"));
  writer.add("tokenizer.ggml.pre",
             std::string(family_ == Family::r1 ? "deepseek-r1-qwen" : "qwen2"));
  writer.add("tokenizer.ggml.tokens", std::move(tokens));
  writer.add("tokenizer.ggml.token_type", std::move(kinds));
  writer.add("tokenizer.ggml.merges", std::vector<std::string>{});
  if (family_ == Family::r1) {
    writer.add("tokenizer.ggml.bos_token_id", find("<｜begin▁of▁sentence｜>"));
    writer.add("tokenizer.ggml.eos_token_id", find("<｜end▁of▁sentence｜>"));
    writer.add("tokenizer.ggml.add_bos_token", true);
  } else {
    writer.add("tokenizer.ggml.eos_token_id", find("<|im_end|>"));
    writer.add("tokenizer.ggml.add_bos_token", false);
  }
}

}  // namespace r1::support
