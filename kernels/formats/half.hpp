// Scalar conversions of 16-bit floats and unaligned reads, used by all weight formats. Tier code
// has its own vector versions in isa/<tier>/isa.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace r1::kernels {
namespace {

/// The two bytes at p, little-endian.
inline std::uint16_t read_u16(const std::uint8_t* p) noexcept {
  return static_cast<std::uint16_t>(p[0] | p[1] << 8);
}

/// IEEE binary16 to binary32, exact; a signalling NaN becomes quiet, as the hardware's conversion
/// does.
inline float f16_to_f32(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t magnitude = half & 0x7fff;
  std::uint32_t bits;
  if (magnitude > 0x7c00) {
    bits = 0x7fc00000 | magnitude << 13;
  } else if (magnitude == 0x7c00) {
    bits = 0x7f800000;
  } else {
    // The exponents differ by 112 in bias; the product is exact and also normalises subnormals.
    bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112F);
  }
  return std::bit_cast<float>(sign | bits);
}

/// The f16 at p as float32.
inline float read_f16(const std::uint8_t* p) noexcept { return f16_to_f32(read_u16(p)); }

/// bfloat16 to binary32: its upper half.
inline float bf16_to_f32(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace
}  // namespace r1::kernels
