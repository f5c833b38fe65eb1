// Q8_0: blocks of 32 values, one f16 scale d and int8 codes. value = code * d.
// GGUF block, 34 bytes: d, then 32 int8. Packed codes are biased by 128, because VNNI wants
// them unsigned.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/block_meta.hpp"
#include "kernels/formats/bytes16.hpp"
#include "kernels/formats/half.hpp"

namespace r1::kernels {
namespace {

struct Q8_0 {
  static constexpr WeightType kType = WeightType::q8_0;
  static constexpr FormatInfo kInfo = {"Q8_0", 8, 32, 34, ActivationEncoding::q8};
  static constexpr int kBits = 8;
  static constexpr int kHalfs = 1;  ///< d
  static constexpr int kBytes = 0;
  static constexpr int kScaleValues = 32;
  static constexpr int kOffset = 128;
  static constexpr bool kHasAddend = false;

  static void split(const std::uint8_t* block, std::uint8_t* codes, std::uint8_t* meta) noexcept {
    std::memcpy(meta, block, 2);
    for (int i = 0; i < 32; i += 16) store16(codes + i, load16(block + 2 + i) ^ 0x80);
  }
  static void decode(const std::uint8_t* codes, const std::uint8_t* meta, float* out) noexcept {
    const float d = read_f16(meta);
    for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(codes[i] - kOffset) * d;
  }
  template <class Isa>
  static void scales(const MetaReader<Isa, Q8_0>& meta, typename Isa::F* scale,
                     typename Isa::F*) noexcept {
    scale[0] = meta.half(0);
  }
};

}  // namespace
}  // namespace r1::kernels
