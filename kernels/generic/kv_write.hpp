// The KV cache's writers: one token's keys and values into their places in a page, as floats or as
// int8 codes. Templates over a tier's FloatIsa; all tiers write the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/args.hpp"
#include "kernels/generic/kv_element.hpp"

namespace r1::kernels {
namespace {

/// See KvWriteFn; Element is float or std::uint16_t (f16 bits, round to nearest even; from 65520 on
/// the stored value is infinity, which the caller has to guard against).
template <class Isa, class Element>
void kv_write(const KvWriteArgs& args) noexcept {
  const std::int64_t dim = args.head_dim;
  Element* k_page = reinterpret_cast<Element*>(args.layer_page);
  Element* v_page = k_page + args.kv_heads * dim * kPageTokens;
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    const std::int64_t block = head * dim * kPageTokens;
    Element* k_column = k_page + block + args.slot;
    Element* v_row = v_page + block + args.slot * dim;
    for (std::int64_t d = 0; d < dim; d += Isa::kWidth) {
      alignas(64) Element k[Isa::kWidth];
      Isa::store(k, Isa::load(args.k + head * dim + d));
      for (int i = 0; i < Isa::kWidth; ++i) k_column[(d + i) * kPageTokens] = k[i];
      Isa::store(v_row + d, Isa::load(args.v + head * dim + d));
    }
  }
}

/// The scale of a row in KvType::q8 as f16 bits, and 1 / scale, which is 0 where all codes are 0.
struct RowScale {
  std::uint16_t bits;
  float inverse;
};

/// See KvType::q8. NaN and infinities are found by x - x: a maximum may pass over a NaN.
template <class Isa>
inline RowScale row_scale(const float* x, std::int64_t dim) noexcept {
  using V = typename Isa::V;
  constexpr RowScale kUnusable{0x7e00, 0.0f};
  V largest = Isa::broadcast(0.0f);
  V poison = Isa::broadcast(0.0f);
  for (std::int64_t d = 0; d < dim; d += Isa::kWidth) {
    const V value = Isa::load(x + d);
    largest = Isa::max(largest, Isa::max(value, -value));
    poison = poison + (value - value);
  }
  if (Isa::sum(poison) != 0.0f) return kUnusable;
  const float magnitude = Isa::max_lane(largest);
  if (magnitude == 0.0f) return {0, 0.0f};

  std::uint16_t bits[Isa::kWidth];
  float scale[Isa::kWidth];
  Isa::store(bits, Isa::broadcast(magnitude / 127.0f));
  Isa::store(scale, Isa::load(bits));
  // The product is exact. The next f16 is the next pattern, which may be infinity.
  if (scale[0] * 127.0f < magnitude) {
    ++bits[0];
    Isa::store(scale, Isa::load(bits));
  }
  if (scale[0] - scale[0] != 0.0f) return kUnusable;
  return {bits[0], 1.0f / scale[0]};
}

/// Codes of dim values; returns their scale as f16 bits.
template <class Isa>
inline std::uint16_t encode_row(const float* x, std::int64_t dim, std::int8_t* codes) noexcept {
  const RowScale scale = row_scale<Isa>(x, dim);
  const auto inverse = Isa::broadcast(scale.inverse);
  for (std::int64_t d = 0; d < dim; d += Isa::kWidth) {
    // Not times 0: an unusable row has NaNs, which every tier would round to something else.
    Isa::store(codes + d, scale.inverse == 0.0f ? inverse : Isa::load(x + d) * inverse);
  }
  return scale.bits;
}

/// See KvWriteFn, for KvType::q8.
template <class Isa>
void kv_write_q8(const KvWriteArgs& args) noexcept {
  const std::int64_t dim = args.head_dim;
  const std::int64_t head_bytes = kv_head_bytes(KvType::q8, dim);
  for (std::int64_t head = 0; head < args.kv_heads; ++head) {
    std::int8_t* const k_block =
        reinterpret_cast<std::int8_t*>(args.layer_page + head * head_bytes);
    std::int8_t* const v_block = k_block + args.kv_heads * head_bytes;
    std::int8_t k[kMaxHeadDim];
    kv_scales(k_block, dim)[args.slot] = encode_row<Isa>(args.k + head * dim, dim, k);
    for (std::int64_t d = 0; d < dim; ++d) k_block[d * kPageTokens + args.slot] = k[d];
    kv_scales(v_block, dim)[args.slot] =
        encode_row<Isa>(args.v + head * dim, dim, v_block + args.slot * dim);
  }
}

}  // namespace
}  // namespace r1::kernels
