// The weights of a Qwen2 model: names in the file to packed matrices and float vectors in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/api/weight_type.hpp"
#include "libr1/base/aligned_buffer.hpp"
#include "libr1/base/thread_team.hpp"
#include "libr1/gguf/reader.hpp"
#include "libr1/model/config.hpp"

namespace r1::model {

/// A packed matrix W[n, k]; `panels` points into Weights' buffer.
struct Matrix {
  kernels::WeightType type = kernels::WeightType::f32;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const std::byte* panels = nullptr;
};

/// One layer's weights, named as the paper does.
struct Layer {
  std::vector<float> attn_norm;  ///< [hidden]
  Matrix q, k, v, o;  ///< [heads*dim, hidden], [kv_heads*dim, hidden] twice, [hidden, heads*dim]
  std::vector<float> q_bias, k_bias, v_bias;
  std::vector<float> ffn_norm;  ///< [hidden]
  Matrix gate, up, down;        ///< [ffn, hidden] twice, [hidden, ffn]
};

/// All weights of a model, immutable after loading.
struct Weights {
  base::AlignedBuffer buffer;  ///< every packed panel
  Matrix embedding;            ///< [vocab, hidden]
  Matrix output;               ///< [vocab, hidden]; the embedding itself when the model is tied
  bool tied = false;
  std::vector<float> output_norm;
  std::vector<Layer> layers;
  std::int64_t parameters = 0;
  std::int64_t tensor_bytes = 0;  ///< of the tensors in the file
  std::string main_type;          ///< the type that holds most bytes
};

/// Finds and checks every tensor, reads the vectors, and sets config.vocab from the embedding; the
/// matrices have no panels yet. Throws Error naming the tensor, its expected and its found shape; a
/// tensor nobody needs is one `warn` line.
Weights bind_weights(const gguf::Reader& file, Config& config, const Warn& warn);

/// How matrices are packed.
struct PackOptions {
  base::Pages pages = base::Pages::advised;  ///< what the packed weights lie on
  std::function<void()> alongside = {};      ///< see pack_matrices()
  std::function<void(double)> progress = {};
};

/// Packs the matrices of bound weights; the peak of memory is the packed size and little more.
/// Throws Error{io, out_of_memory}, and what options.alongside throws.
void pack_weights(const gguf::Reader& file, Weights& weights, base::ThreadTeam& team,
                  const PackOptions& options);

}  // namespace r1::model
