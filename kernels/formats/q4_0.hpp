// Q4_0: blocks of 32 values, one f16 scale d and 4-bit codes. value = d * (code - 8).
// GGUF block, 18 bytes: d, then 16 bytes whose low nibbles are values 0..15, high nibbles 16..31.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/block_meta.hpp"
#include "kernels/formats/half.hpp"
#include "kernels/formats/nibbles.hpp"

namespace r1::kernels {
namespace {

struct Q4_0 {
  static constexpr WeightType kType = WeightType::q4_0;
  static constexpr FormatInfo kInfo = {"Q4_0", 2, 32, 18, ActivationEncoding::q8};
  static constexpr int kBits = 4;
  static constexpr int kHalfs = 1;  ///< d
  static constexpr int kBytes = 0;
  static constexpr int kScaleValues = 32;
  static constexpr int kOffset = 8;
  static constexpr bool kHasAddend = false;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block, 2);
    split_nibbles<16>(block + 2, codes);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(codes[i] - kOffset);
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q4_0>& meta, typename Isa::F* scale,
                     typename Isa::F*) noexcept {
    scale[0] = meta.half(0);
  }
};

}  // namespace
}  // namespace r1::kernels
