// Qwen2's byte-level BPE exactly as Hugging Face computes it: NFC, added tokens, split rule,
// merges.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1::gguf {
class Reader;
}

namespace r1::text {

struct TokenizerSpec;

/// Kinds of tokens, numbered as tokenizer.ggml.token_type does.
enum class TokenKind : std::uint8_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6,
};

/// Immutable, thread-safe.
class Tokenizer {
 public:
  /// Reads tokenizer.ggml.*. `on_warning` gets one line for each thing that was guessed (case T3).
  /// Throws Error{bad_file, unsupported}.
  static std::shared_ptr<const Tokenizer> from_gguf(
      const gguf::Reader& file, const std::function<void(std::string_view)>& on_warning);
  /// The same from values that were read before or made by hand (libr1/text/tokenizer_spec.hpp).
  static std::shared_ptr<const Tokenizer> from_spec(
      const TokenizerSpec& spec, const std::function<void(std::string_view)>& on_warning);

  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  ~Tokenizer();

  /// Ids of a prompt. Added tokens are recognised only within one piece that has parse_special
  /// (case T5); all other text is normalised, split and merged as one run across pieces. Time is
  /// linear but for O(n log n) merges; stack use is constant.
  std::vector<TokenId> encode(std::span<const PromptPiece> pieces) const;
  /// The same, with BOS put first when the model wants one and `pieces` does not start with it
  /// (case C1).
  std::vector<TokenId> encode_prompt(std::span<const PromptPiece> pieces) const;

  /// Raw bytes of a token; control tokens by their spelling; empty for unused and unknown ids.
  const std::string& bytes(TokenId id) const;
  TokenKind kind(TokenId id) const;
  /// True for tokens that generated text shows (normal, user_defined, byte).
  bool is_visible(TokenId id) const;
  /// True for ids that sampling may choose: named, not unused.
  bool is_samplable(TokenId id) const;
  bool is_end_of_generation(TokenId id) const;
  const std::vector<TokenId>& end_of_generation() const;
  /// Id of the token spelled so (vocabulary spelling turned into bytes), or -1.
  TokenId find(std::string_view utf8) const;
  /// Rows of tokenizer.ggml.tokens.
  std::int64_t vocab_size() const;
  TokenId bos() const;  ///< -1: none
  TokenId eos() const;  ///< -1: none
  bool adds_bos() const;
  /// The vocabulary of an R1 distill: it has the Assistant marker and `<think>`.
  bool is_r1() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace r1::text
