// TQ2_0: blocks of 256 ternary values, one f16 scale d and 2-bit codes. value = d * (code - 1).
// GGUF block, 66 bytes: 64 bytes of codes as in Q2_K, then d.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/k_scales.hpp"

namespace r1::kernels {
namespace {

struct TQ2_0 {
  static constexpr WeightType kType = WeightType::tq2_0;
  static constexpr FormatInfo kInfo = {"TQ2_0", 35, 256, 66, ActivationEncoding::q8, 64};
  static constexpr int kBits = 2;
  static constexpr int kHalfs = 1;  ///< d
  static constexpr int kBytes = 0;
  static constexpr int kScaleValues = 32;
  static constexpr int kOffset = 1;
  static constexpr bool kHasAddend = false;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block + 64, 2);
    std::memset(codes, 0, kSuperValues);
    add_bit_pairs<0>(block, codes);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    for (int i = 0; i < kSuperValues; ++i) out[i] = d * static_cast<float>(codes[i] - kOffset);
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, TQ2_0>& meta, typename Isa::F* scale,
                     typename Isa::F*) noexcept {
    for (int i = 0; i < 8; ++i) scale[i] = meta.half(0);
  }
};

}  // namespace
}  // namespace r1::kernels
