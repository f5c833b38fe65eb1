// Vocabularies that the tests of the text area share: Qwen2.5's from a file, the same with an R1
// distill's added tokens, and small ones made by hand.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libr1/text/tokenizer.hpp"
#include "libr1/text/tokenizer_spec.hpp"

namespace r1::text {

/// The values of tests/data/tokenizer/qwen2-vocab.gguf.
const TokenizerSpec& qwen2_spec();
/// The same vocabulary with the added tokens, tag, BOS and EOS of DeepSeek-R1-Distill-Qwen.
const TokenizerSpec& r1_spec();
/// A tokenizer of each, made once.
const Tokenizer& qwen2_tokenizer();
const Tokenizer& r1_tokenizer();

/// 256 byte tokens (ids 0 to 255 in byte order), then `words` with the merges given, then `added`
/// as control.
TokenizerSpec small_spec(const std::vector<std::string>& words,
                         const std::vector<std::string>& merges,
                         const std::vector<std::string>& added);

/// A JSON file of tests/data/tokenizer.
nlohmann::json tokenizer_data(const std::string& name);

/// encode() of one piece.
std::vector<TokenId> ids_of(const Tokenizer& tokenizer, const std::string& text,
                            bool parse_special = false);
/// The bytes of `ids`, joined.
std::string bytes_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids);

/// A tokenizer and the warnings that making it gave.
struct Made {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> warnings;
};
Made make(const TokenizerSpec& spec);

}  // namespace r1::text
