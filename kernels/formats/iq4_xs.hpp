// IQ4_XS: super-blocks of 256 values, sub-blocks of 32 with a 6-bit scale each, 4-bit indices of a
// table. value = d * (scale - 32) * table[code]. GGUF block, 136 bytes: f16 d, 16 bits of upper
// scale bits (scale b at bit 2 b), 4 bytes of lower scale nibbles (scale b in byte b / 2, nibble b
// % 2), then nibbles as in Q4_0 for each sub-block.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/iq4_table.hpp"
#include "kernels/formats/k_scales.hpp"
#include "kernels/formats/nibbles.hpp"

namespace r1::kernels {
namespace {

struct IQ4_XS {
  static constexpr WeightType kType = WeightType::iq4_xs;
  static constexpr FormatInfo kInfo = {"IQ4_XS", 23, 256, 136, ActivationEncoding::q8};
  static constexpr int kBits = 4;
  static constexpr int kHalfs = 1;  ///< d
  static constexpr int kBytes = 6;  ///< scales: upper bits, lower nibbles
  static constexpr bool kTable = true;
  static constexpr int kScaleValues = 32;
  static constexpr int kOffset = 128;
  static constexpr bool kHasAddend = false;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block, 8);
    for (int b = 0; b < 8; ++b) split_nibbles<16>(block + 8 + 16 * b, codes + 32 * b);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    for (int b = 0; b < 8; ++b) {
      const int low = meta[4 + b / 2] >> (b % 2 * 4) & 15;
      const int high = meta[2 + b / 4] >> (b % 4 * 2) & 3;
      const float step = d * static_cast<float>((low | high << 4) - 32);
      for (int i = 32 * b; i < 32 * b + 32; ++i) {
        out[i] = step * static_cast<float>(kIq4Values[codes[i]]);
      }
    }
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, IQ4_XS>& meta, typename Isa::F* scale,
                     typename Isa::F*) noexcept {
    const auto d = meta.half(0);
    unroll<8>([&](auto b) __attribute__((always_inline)) {
      const auto low = Isa::template shift_right<b % 2 * 4>(meta.byte(2 + b / 2));
      const auto high = Isa::template shift_right<b % 4 * 2 - 4>(meta.byte(b / 4));
      const auto biased = Isa::and_or(high, Isa::bytes(0x30), Isa::bits_and(low, Isa::bytes(15)));
      scale[b] = Isa::mul(d, Isa::sub(Isa::to_float(biased), Isa::broadcast(32.0F)));
    });
  }
};

}  // namespace
}  // namespace r1::kernels
