// Chooses the pairs whose bias is kept apart: the largest of each head that exceed a bound.
#include "libr1/runtime/key_bias.hpp"

#include <algorithm>
#include <cmath>

namespace r1::runtime {
namespace {

// Up to this magnitude a bias costs a 16-bit key at most 2^-8 of absolute error (half an ulp at 8
// is 2^-9): well under what the int8 activations before it already cost.
// For int8 keys the bound was measured to be low enough, docs/decisions/key-bias-apart.md.
constexpr float kApartBound = 8.0F;

std::vector<ApartPair> large_pairs(const float* bias, std::int64_t head_dim) {
  const std::int64_t half = head_dim / 2;
  std::vector<ApartPair> pairs;
  for (std::int64_t i = 0; i < half; ++i) {
    if (std::max(std::fabs(bias[i]), std::fabs(bias[i + half])) > kApartBound) {
      pairs.push_back({i, 0, bias[i], bias[i + half]});
    }
  }
  const auto larger = [](const ApartPair& a, const ApartPair& b) {
    return std::hypot(a.first, a.second) > std::hypot(b.first, b.second);
  };
  std::stable_sort(pairs.begin(), pairs.end(), larger);
  if (pairs.size() > static_cast<std::size_t>(kApartPairsMax)) pairs.resize(kApartPairsMax);
  return pairs;
}

}  // namespace

KeyBias split_key_bias(const model::Weights& weights, const model::Config& config,
                       kernels::KvType type) {
  KeyBias result;
  const std::int64_t half = config.head_dim / 2;
  for (const model::Layer& layer : weights.layers) {
    LayerKeyBias split;
    split.kept = layer.k_bias;
    split.apart.resize(static_cast<std::size_t>(config.kv_heads));
    for (std::int64_t head = 0; type != kernels::KvType::f32 && head < config.kv_heads; ++head) {
      float* kept = split.kept.data() + head * config.head_dim;
      auto& apart = split.apart[static_cast<std::size_t>(head)];
      apart = large_pairs(kept, config.head_dim);
      for (ApartPair& pair : apart) {
        kept[pair.pair] = 0;
        kept[pair.pair + half] = 0;
        const auto known =
            std::find(result.column_pairs.begin(), result.column_pairs.end(), pair.pair);
        pair.column = static_cast<std::size_t>(known - result.column_pairs.begin());
        if (known == result.column_pairs.end()) result.column_pairs.push_back(pair.pair);
      }
      result.terms_max = std::max(result.terms_max, 2 * static_cast<std::int64_t>(apart.size()));
    }
    result.layers.push_back(std::move(split));
  }
  return result;
}

}  // namespace r1::runtime
