// Tiny random Qwen2 models as GGUF images (fixture F1), in every weight type, with the oddities
// that cases need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/api/weight_type.hpp"
#include "tests/support/vocabulary.hpp"

namespace r1::support {

/// What to make. Equal specs give equal files.
struct RandomModelSpec {
  std::int64_t layers = 2;
  std::int64_t hidden = 256;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 2;
  std::int64_t head_dim = 64;
  std::int64_t ffn = 512;
  std::int64_t vocab = 320;
  std::int64_t context = 2048;
  std::int64_t sliding_window = 0;  ///< 0: no such key
  kernels::WeightType type = kernels::WeightType::f32;
  Family family = Family::qwen;
  bool tied = true;
  double rope_base = 1e6;
  double yarn_factor = 0;  ///< 0: no scaling
  double yarn_original_context = 0;
  std::uint64_t seed = 1;
  float bias = 1;              ///< deviation of the q, k and v biases
  float hot_bias = 0;          ///< q and k bias of one channel in the slowest rotary pair (case K1)
  float outlier_key_bias = 0;  ///< +- key bias of two channels a head (case K2)
  float ffn_scale = 1;      ///< factor on the FFN norm's weights; drives activations up (case K1)
  bool nan_weight = false;  ///< the last norm holds a NaN (case G1)
};

/// The file's bytes.
std::vector<std::byte> random_model(const RandomModelSpec& spec);

/// `count` token ids below `vocab`, seeded.
std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocab, std::uint64_t seed);

/// Bytes of [rows, k] in `type` with values of deviation about `deviation`: codes are random,
/// scales plausible.
std::vector<std::byte> random_rows(kernels::WeightType type, std::int64_t rows, std::int64_t k,
                                   float deviation, std::uint64_t seed);

}  // namespace r1::support
