// Q6_K: super-blocks of 256 values, sub-blocks of 16 with an int8 scale each, 6-bit codes.
// value = d * scale * (code - 32).
// GGUF block, 210 bytes: 128 bytes of nibbles (64 bytes a half: 64 low, then 64 high nibbles), 64
// bytes of upper bit pairs, 16 int8 scales, f16 d.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/k_scales.hpp"
#include "kernels/formats/nibbles.hpp"

namespace r1::kernels {
namespace {

struct Q6_K {
  static constexpr WeightType kType = WeightType::q6_k;
  static constexpr FormatInfo kInfo = {"Q6_K", 14, 256, 210, ActivationEncoding::q8, 208};
  static constexpr int kBits = 6;
  static constexpr int kHalfs = 1;   ///< d
  static constexpr int kBytes = 16;  ///< int8 scales
  static constexpr int kScaleValues = 16;
  static constexpr int kOffset = 32;
  static constexpr bool kHasAddend = false;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block + 208, 2);
    std::memcpy(meta + 2, block + 192, 16);
    split_nibbles<64>(block, codes);
    split_nibbles<64>(block + 64, codes + 128);
    add_bit_pairs<4>(block + 128, codes);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    for (int i = 0; i < kSuperValues; ++i) {
      const float step = d * static_cast<float>(static_cast<std::int8_t>(meta[2 + i / 16]));
      out[i] = step * static_cast<float>(codes[i] - kOffset);
    }
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q6_K>& meta, typename Isa::F* scale,
                     typename Isa::F*) noexcept {
    const auto d = meta.half(0);
    for (int j = 0; j < 16; ++j) scale[j] = Isa::mul(d, Isa::to_float(meta.signed_byte(j)));
  }
};

}  // namespace
}  // namespace r1::kernels
