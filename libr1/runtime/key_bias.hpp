// Large key biases kept apart from the KV cache.
//
// Qwen2's key biases reach hundreds in a few channel pairs; a narrow key then has no bits left for
// the rest. For those pairs the cache holds the key without its bias, and attention adds the bias's
// share of the score as A cos(p theta) + B sin(p theta), with A and B from the rotated query and
// the bias (cases K1, K2).
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/api/args.hpp"
#include "libr1/model/config.hpp"
#include "libr1/model/weights.hpp"

namespace r1::runtime {

/// A pair (i, i + head_dim/2) of one KV head whose bias is kept apart.
struct ApartPair {
  std::int64_t pair = 0;   ///< i
  std::size_t column = 0;  ///< index into KeyBias::column_pairs
  float first = 0;         ///< bias of channel i
  float second = 0;        ///< bias of channel i + head_dim/2
};

/// One layer's key bias in its two parts.
struct LayerKeyBias {
  std::vector<float> kept;  ///< [kv_heads * head_dim]: what the projection still adds
  std::vector<std::vector<ApartPair>> apart;  ///< by KV head
};

/// All layers' key biases.
struct KeyBias {
  std::vector<LayerKeyBias> layers;
  std::vector<std::int64_t> column_pairs;  ///< distinct pairs in use: columns of the rotary table
  std::int64_t terms_max = 0;              ///< most score terms (two a pair) of any head
};

/// Most pairs a head keeps apart. Qwen2.5's heads have fewer such pairs than this.
inline constexpr std::int64_t kApartPairsMax = 8;

/// Splits the biases for a cache of `type`; nothing is kept apart for f32.
KeyBias split_key_bias(const model::Weights& weights, const model::Config& config,
                       kernels::KvType type);

}  // namespace r1::runtime
