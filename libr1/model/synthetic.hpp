// Synthetic models: Qwen2 models of known shapes whose weights are made, not trained. Read through
// gguf::Reader as if they were files, or written as such.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "libr1/gguf/reader.hpp"
#include "libr1/model/synthetic_vocabulary.hpp"

namespace r1::model {

/// A network's numbers. Widths are multiples of 32, heads x head_dim is hidden.
struct SyntheticShape {
  std::string_view name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocab = 0;         ///< rows of the embedding
  std::int64_t named_tokens = 0;  ///< see add_vocabulary()
  bool tied = false;              ///< the embedding is the output matrix
  std::int64_t context = 0;       ///< positions trained for
  float rope_base = 0;
  TokenFamily family = TokenFamily::qwen;
};

/// The shape of that name. Throws Error{invalid_argument} listing the names.
SyntheticShape synthetic_shape(std::string_view name);

/// A model as an open file; only its header takes memory. `type`: see TypeRecipe. Equal arguments
/// give equal bytes. Throws Error{invalid_argument}.
gguf::Reader open_synthetic(const SyntheticShape& shape, std::string_view type, std::uint64_t seed);
/// The same model as a GGUF file. Throws Error{invalid_argument, io}.
void write_synthetic(const std::string& path, const SyntheticShape& shape, std::string_view type,
                     std::uint64_t seed);

}  // namespace r1::model
