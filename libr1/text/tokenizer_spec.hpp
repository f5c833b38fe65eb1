// What a model file says about its tokenizer, before any of it was checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace r1::gguf {
class Reader;
}

namespace r1::text {

/// The tokenizer.ggml.* values of a GGUF file, or the same made by hand.
struct TokenizerSpec {
  std::string file;                         ///< stands for the file in errors
  std::optional<std::string> architecture;  ///< general.architecture
  std::optional<std::string> model;         ///< tokenizer.ggml.model
  std::optional<std::string> pre;           ///< tokenizer.ggml.pre
  std::vector<std::string> tokens;  ///< spellings; those of normal tokens in the byte alphabet
  std::vector<std::int64_t> kinds;  ///< TokenKind numbers, one a token; empty: not given
  std::optional<std::vector<std::string>> merges;  ///< "left right", lowest rank first
  std::optional<bool> add_bos;                     ///< tokenizer.ggml.add_bos_token
  std::optional<std::int64_t> bos;                 ///< tokenizer.ggml.bos_token_id
  std::optional<std::int64_t> eos;                 ///< tokenizer.ggml.eos_token_id
  std::optional<std::int64_t> eot;                 ///< tokenizer.ggml.eot_token_id
};

/// Reads a file's values. Throws Error{bad_file} when one has another type than it must have.
TokenizerSpec tokenizer_spec_from_gguf(const gguf::Reader& file);

}  // namespace r1::text
