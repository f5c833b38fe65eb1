// Which weight type each matrix of a quantized model has: one type for all, or one of llama.cpp's
// mixtures. Source of the rules: llama.cpp, src/llama-quant.cpp, 2026-08.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/api/weight_type.hpp"

namespace r1::model {

/// A matrix's part in the network, as far as mixtures tell parts apart.
enum class MatrixRole { embedding, output, attn_v, attn_output, ffn_down, other };

/// Where a matrix sits. For embedding and output `layer` means nothing.
struct MatrixPlace {
  MatrixRole role = MatrixRole::other;
  std::int64_t layer = 0;   ///< from 0
  std::int64_t layers = 0;  ///< of the model
  std::int64_t k = 0;       ///< values a row
};

/// A type or mixture by its name.
class TypeRecipe {
 public:
  /// Throws Error{invalid_argument} listing the names.
  explicit TypeRecipe(std::string_view name);
  /// All names: the weight types that models are quantized to, in the kernels' order, then the
  /// mixtures.
  static std::vector<std::string> names();

  /// The matrix's type. A type whose blocks do not fill rows of `place.k` values is replaced as
  /// llama.cpp does. A tied embedding is an output matrix: ask for that role.
  kernels::WeightType type_of(const MatrixPlace& place) const;
  /// The number for general.file_type (llama.h, enum llama_ftype).
  std::uint32_t file_type() const;

 private:
  std::size_t index_;
};

}  // namespace r1::model
