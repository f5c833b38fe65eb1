// Q5_0: blocks of 32 values, one f16 scale d and 5-bit codes. value = d * (code - 16).
// GGUF block, 22 bytes: d, 32 fifth bits, then nibbles as in Q4_0.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/block_meta.hpp"
#include "kernels/formats/half.hpp"
#include "kernels/formats/nibbles.hpp"

namespace r1::kernels {
namespace {

struct Q5_0 {
  static constexpr WeightType kType = WeightType::q5_0;
  static constexpr FormatInfo kInfo = {"Q5_0", 6, 32, 22, ActivationEncoding::q8};
  static constexpr int kBits = 5;
  static constexpr int kHalfs = 1;  ///< d
  static constexpr int kBytes = 0;
  static constexpr int kScaleValues = 32;
  static constexpr int kOffset = 16;
  static constexpr bool kHasAddend = false;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block, 2);
    split_nibbles<16>(block + 6, codes);
    add_high_bits<4>(block + 2, codes);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(codes[i] - kOffset);
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q5_0>& meta, typename Isa::F* scale,
                     typename Isa::F*) noexcept {
    scale[0] = meta.half(0);
  }
};

}  // namespace
}  // namespace r1::kernels
