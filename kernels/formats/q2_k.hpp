// Q2_K: super-blocks of 256 values, sub-blocks of 16 with a 4-bit scale and minimum each, 2-bit
// codes. value = d * scale * code - dmin * min. GGUF block, 84 bytes: 16 bytes (scale in the low,
// minimum in the high nibble), 64 bytes of codes (value 128 n + 32 j + i at bit 2 j of byte 32 n +
// i), f16 d, f16 dmin.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/k_scales.hpp"

namespace r1::kernels {
namespace {

struct Q2_K {
  static constexpr WeightType kType = WeightType::q2_k;
  static constexpr FormatInfo kInfo = {"Q2_K", 10, 256, 84, ActivationEncoding::q8, 80, 82};
  static constexpr int kBits = 2;
  static constexpr int kHalfs = 2;   ///< d, dmin
  static constexpr int kBytes = 16;  ///< scale and minimum nibbles
  static constexpr int kScaleValues = 16;
  static constexpr int kOffset = 0;
  static constexpr bool kHasAddend = true;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block + 80, 4);
    std::memcpy(meta + 4, block, 16);
    std::memset(codes, 0, kSuperValues);
    add_bit_pairs<0>(block + 16, codes);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    const float dmin = read_f16(meta + 2);
    for (int i = 0; i < kSuperValues; ++i) {
      const std::uint8_t pair = meta[4 + i / 16];
      const float step = d * static_cast<float>(pair & 15);
      const float low = dmin * static_cast<float>(pair >> 4);
      out[i] = step * static_cast<float>(codes[i]) - low;
    }
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q2_K>& meta, typename Isa::F* scale,
                     typename Isa::F* addend) noexcept {
    const auto d = meta.half(0);
    const auto negative_dmin = Isa::negate(meta.half(1));
    for (int j = 0; j < 16; ++j) {
      const auto pair = meta.byte(j);
      scale[j] = Isa::mul(d, Isa::to_float(Isa::bits_and(pair, Isa::bytes(15))));
      addend[j] = Isa::mul(negative_dmin, Isa::to_float(Isa::template shift_right<4>(pair)));
    }
  }
};

}  // namespace
}  // namespace r1::kernels
