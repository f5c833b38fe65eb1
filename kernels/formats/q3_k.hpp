// Q3_K: super-blocks of 256 values, sub-blocks of 16 with a 6-bit scale each, 3-bit codes.
// value = d * (scale - 32) * (code - 4).
// GGUF block, 110 bytes: 32 bytes of third bits (bit j of byte i is value 32 j + i), 64 bytes of
// bit pairs as in Q2_K, 12 bytes of scales (bytes 0..7: low four bits of scale s in byte s % 8,
// nibble s / 8; bytes 8..11: upper two bits of scale s in byte 8 + s % 4 at bit 2 (s / 4)), f16 d.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/k_scales.hpp"

namespace r1::kernels {
namespace {

struct Q3_K {
  static constexpr WeightType kType = WeightType::q3_k;
  static constexpr FormatInfo kInfo = {"Q3_K", 11, 256, 110, ActivationEncoding::q8, 108};
  static constexpr int kBits = 3;
  static constexpr int kHalfs = 1;   ///< d
  static constexpr int kBytes = 12;  ///< 6-bit scales
  static constexpr int kScaleValues = 16;
  static constexpr int kOffset = 4;
  static constexpr bool kHasAddend = false;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block + 108, 2);
    std::memcpy(meta + 2, block + 96, 12);
    std::memset(codes, 0, kSuperValues);
    add_bit_pairs<0>(block + 32, codes);
    add_strided_bits<2>(block, codes);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    const std::uint8_t* bytes = meta + 2;
    for (int s = 0; s < 16; ++s) {
      const int low = bytes[s % 8] >> (s / 8 * 4) & 15;
      const int high = bytes[8 + s % 4] >> (s / 4 * 2) & 3;
      const float step = d * static_cast<float>((low | high << 4) - 32);
      for (int i = 16 * s; i < 16 * s + 16; ++i) {
        out[i] = step * static_cast<float>(codes[i] - kOffset);
      }
    }
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q3_K>& meta, typename Isa::F* scale,
                     typename Isa::F*) noexcept {
    const auto d = meta.half(0);
    unroll<16>([&](auto s) __attribute__((always_inline)) {
      const auto low = Isa::template shift_right<s / 8 * 4>(meta.byte(s % 8));
      const auto high = Isa::template shift_right<s / 4 * 2 - 4>(meta.byte(8 + s % 4));
      const auto biased = Isa::and_or(high, Isa::bytes(0x30), Isa::bits_and(low, Isa::bytes(15)));
      scale[s] = Isa::mul(d, Isa::sub(Isa::to_float(biased), Isa::broadcast(32.0F)));
    });
  }
};

}  // namespace
}  // namespace r1::kernels
