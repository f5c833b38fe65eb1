// Q4_K: super-blocks of 256 values, sub-blocks of 32 with a 6-bit scale and minimum each, 4-bit
// codes. value = d * scale * code - dmin * min. GGUF block, 144 bytes: f16 d, f16 dmin, 12 bytes of
// scales and minima (k_scales.hpp), then 128 bytes: bytes 32 j .. 32 j + 31 hold sub-block 2 j in
// low and 2 j + 1 in high nibbles.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/k_scales.hpp"
#include "kernels/formats/nibbles.hpp"

namespace r1::kernels {
namespace {

struct Q4_K {
  static constexpr WeightType kType = WeightType::q4_k;
  static constexpr FormatInfo kInfo = {"Q4_K", 12, 256, 144, ActivationEncoding::q8, 0, 2};
  static constexpr int kBits = 4;
  static constexpr int kHalfs = 2;   ///< d, dmin
  static constexpr int kBytes = 12;  ///< 6-bit scales and minima
  static constexpr int kScaleValues = 32;
  static constexpr int kOffset = 0;
  static constexpr bool kHasAddend = true;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block, 16);
    for (int j = 0; j < 4; ++j) split_nibbles<32>(block + 16 + 32 * j, codes + 64 * j);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    decode_six_bit(codes, meta, out);
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q4_K>& meta, typename Isa::F* scale,
                     typename Isa::F* addend) noexcept {
    six_bit_scales(meta, scale, addend);
  }
};

}  // namespace
}  // namespace r1::kernels
