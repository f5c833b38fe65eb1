// Text to token ids and back, as the model file defines it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace r1 {

/// Index of a token in the vocabulary.
using TokenId = std::int32_t;

/// A stretch of prompt text. Added tokens (`<|im_end|>`, `<think>` ...) are recognised only inside
/// pieces with `parse_special`; text of users never becomes one. Byte-pair merges run across
/// pieces.
struct PromptPiece {
  std::string text;            ///< UTF-8
  bool parse_special = false;  ///< true for text that the chat template itself wrote
};

namespace text {
class Tokenizer;
}

/// Handle to an immutable tokenizer, cheap to copy. Thread-safe.
class Tokenizer {
 public:
  explicit Tokenizer(std::shared_ptr<const text::Tokenizer> impl);

  /// Token ids of plain text; with `parse_special` added tokens in it are recognised. Adds no BOS.
  std::vector<TokenId> encode(std::string_view utf8, bool parse_special = false) const;
  /// Token ids of a prompt made of pieces. Adds no BOS.
  std::vector<TokenId> encode(const std::vector<PromptPiece>& pieces) const;
  /// The text of `ids`, control tokens included as they are spelled. Bytes that are not UTF-8 are
  /// kept.
  std::string decode(const std::vector<TokenId>& ids) const;
  /// The spelling of one token (raw bytes); empty for ids without a name.
  std::string token_text(TokenId id) const;
  /// Id of the token spelled exactly `utf8`, or -1.
  TokenId find(std::string_view utf8) const;
  /// Number of rows of the vocabulary, unused ones included.
  std::int64_t vocab_size() const;
  /// True when `id` ends a generation (EOS, EOT and their like, by this file's own spelling).
  bool is_end_of_generation(TokenId id) const;

  /// The implementation, for the library itself.
  const text::Tokenizer& impl() const { return *impl_; }

 private:
  std::shared_ptr<const text::Tokenizer> impl_;
};

}  // namespace r1
