// Where keys and values lie in a page: sizes and offsets, for one model and one KV type.
#pragma once

#include <cstdint>

#include "kernels/api/args.hpp"
#include "libr1/model/config.hpp"

namespace r1::runtime {

/// A page holds kernels::kPageTokens tokens of all layers; a layer's part is K of all KV heads,
/// then V.
struct KvLayout {
  kernels::KvType type = kernels::KvType::f16;
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;

  /// For `config` with elements of `type`.
  static KvLayout make(const model::Config& config, kernels::KvType type) {
    return {type, config.layers, config.kv_heads, config.head_dim};
  }
  /// K or V of one head in one page.
  std::int64_t head_bytes() const { return kernels::kv_head_bytes(type, head_dim); }
  /// One layer's part of a page, a multiple of 64.
  std::int64_t layer_bytes() const { return 2 * kv_heads * head_bytes(); }
  std::int64_t page_bytes() const { return layers * layer_bytes(); }
  std::int64_t layer_offset(std::int64_t layer) const { return layer * layer_bytes(); }
  std::int64_t k_offset(std::int64_t layer, std::int64_t head) const {
    return layer_offset(layer) + head * head_bytes();
  }
  std::int64_t v_offset(std::int64_t layer, std::int64_t head) const {
    return layer_offset(layer) + (kv_heads + head) * head_bytes();
  }
};

}  // namespace r1::runtime
