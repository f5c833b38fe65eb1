// Q4_1: blocks of 32 values, f16 scale d and addend m, 4-bit codes. value = d * code + m.
// GGUF block, 20 bytes: d, m, then nibbles as in Q4_0.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/block_meta.hpp"
#include "kernels/formats/half.hpp"
#include "kernels/formats/nibbles.hpp"

namespace r1::kernels {
namespace {

struct Q4_1 {
  static constexpr WeightType kType = WeightType::q4_1;
  static constexpr FormatInfo kInfo = {"Q4_1", 3, 32, 20, ActivationEncoding::q8, 0, 2};
  static constexpr int kBits = 4;
  static constexpr int kHalfs = 2;  ///< d, m
  static constexpr int kBytes = 0;
  static constexpr int kScaleValues = 32;
  static constexpr int kOffset = 0;
  static constexpr bool kHasAddend = true;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block, 4);
    split_nibbles<16>(block + 4, codes);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    const float m = read_f16(meta + 2);
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(codes[i]) + m;
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q4_1>& meta, typename Isa::F* scale,
                     typename Isa::F* addend) noexcept {
    scale[0] = meta.half(0);
    addend[0] = meta.half(1);
  }
};

}  // namespace
}  // namespace r1::kernels
