// Q5_K: super-blocks of 256 values, as Q4_K with 5-bit codes. value = d * scale * code - dmin *
// min. GGUF block, 176 bytes: f16 d, f16 dmin, 12 bytes of scales and minima (k_scales.hpp), 32
// bytes of fifth bits (bit j of byte i is value 32 j + i), 128 bytes of nibbles as in Q4_K.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/k_scales.hpp"
#include "kernels/formats/nibbles.hpp"

namespace r1::kernels {
namespace {

struct Q5_K {
  static constexpr WeightType kType = WeightType::q5_k;
  static constexpr FormatInfo kInfo = {"Q5_K", 13, 256, 176, ActivationEncoding::q8, 0, 2};
  static constexpr int kBits = 5;
  static constexpr int kHalfs = 2;   ///< d, dmin
  static constexpr int kBytes = 12;  ///< 6-bit scales and minima
  static constexpr int kScaleValues = 32;
  static constexpr int kOffset = 0;
  static constexpr bool kHasAddend = true;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block, 16);
    for (int j = 0; j < 4; ++j) split_nibbles<32>(block + 48 + 32 * j, codes + 64 * j);
    add_strided_bits<4>(block + 16, codes);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    decode_six_bit(codes, meta, out);
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q5_K>& meta, typename Isa::F* scale,
                     typename Isa::F* addend) noexcept {
    six_bit_scales(meta, scale, addend);
  }
};

}  // namespace
}  // namespace r1::kernels
