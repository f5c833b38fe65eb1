// Activation rows as matmul wants them (ActivationEncoding in api/weight_type.hpp). The arithmetic
// is the same on all tiers: one division, one product and one rounding a value, so all tiers write
// the same bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/formats/panel_layout.hpp"

namespace r1::kernels {
namespace {

/// The kernel of KernelTable::encode for ActivationEncoding::f32.
template <class Isa>
void encode_f32(const float* x, std::int64_t k, std::byte* out) noexcept {
  std::memcpy(out, x, static_cast<std::size_t>(k * 4));
  std::memset(out + k * 4, 0, static_cast<std::size_t>(round_up_64(k * 4) - k * 4));
}

/// The kernel of KernelTable::encode for ActivationEncoding::q8. A block whose scale would be
/// subnormal
/// (|x| below about 1.5e-36) counts as zeros, because its inverse might not be finite. Infinities
/// and NaN go into the scale, so that the product is not finite and is found behind the matmul.
template <class Isa>
void encode_q8(const float* x, std::int64_t k, std::byte* out) noexcept {
  std::memset(out + k, 0, static_cast<std::size_t>(q8_scales_offset(k) - k));
  std::byte* scales = out + q8_scales_offset(k);
  std::byte* sums = out + q8_sums_offset(k);
  for (std::int64_t block = 0; block < k / 32; ++block) {
    const float largest = std::bit_cast<float>(Isa::largest_bits(x + 32 * block));
    float scale = largest / 127.0F;
    if (scale < std::numeric_limits<float>::min()) scale = 0.0F;
    const bool usable = scale > 0.0F && scale <= std::numeric_limits<float>::max();
    const float inverse = usable ? 1.0F / scale : 0.0F;
    std::int16_t pair[2];
    Isa::encode(x + 32 * block, inverse, reinterpret_cast<std::int8_t*>(out + 32 * block), pair);
    std::memcpy(scales + 4 * block, &scale, 4);
    std::memcpy(sums + 4 * block, pair, 4);
  }
  std::memset(scales + k / 32 * 4, 0,
              static_cast<std::size_t>(round_up_64(k / 32 * 4) - k / 32 * 4));
  std::memset(sums + k / 16 * 2, 0, static_cast<std::size_t>(round_up_64(k / 16 * 2) - k / 16 * 2));
}

}  // namespace
}  // namespace r1::kernels
