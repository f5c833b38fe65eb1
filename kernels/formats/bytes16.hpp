// Sixteen bytes at once in portable code: the compiler's vector type, which every target of this
// project has in hardware (SSE2, NEON). For packing and scalar decoding only; the kernels of a tier
// have wider vectors of their own.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

namespace r1::kernels {
namespace {

/// Sixteen bytes; operators work on each.
using Bytes16 = std::uint8_t __attribute__((vector_size(16)));

/// The 16 bytes at p, of any alignment.
inline Bytes16 load16(const std::uint8_t* p) noexcept {
  Bytes16 out;
  std::memcpy(&out, p, 16);
  return out;
}

/// Writes 16 bytes to p, of any alignment.
inline void store16(std::uint8_t* p, Bytes16 bytes) noexcept { std::memcpy(p, &bytes, 16); }

/// p[16] |= bits.
inline void or16(std::uint8_t* p, Bytes16 bits) noexcept { store16(p, load16(p) | bits); }

/// The bits kMask << kFrom of each byte moved to kMask << kTo, all others zero. Bytes have no shift
/// in hardware; shifting pairs of bytes saves the second mask.
template <int kMask, int kFrom, int kTo>
[[gnu::always_inline]] inline Bytes16 move_bits(Bytes16 bytes) noexcept {
  using Pairs = std::uint16_t __attribute__((vector_size(16)));
  const auto picked = reinterpret_cast<Pairs>(bytes & std::uint8_t{kMask << kFrom});
  if constexpr (kTo >= kFrom) {
    return reinterpret_cast<Bytes16>(picked << (kTo - kFrom));
  } else {
    return reinterpret_cast<Bytes16>(picked >> (kFrom - kTo));
  }
}

/// Elements of kBytes bytes taken in turn from the lower (kHigh: upper) halves of a and b.
template <int kBytes, bool kHigh>
[[gnu::always_inline]] inline Bytes16 interleave(Bytes16 a, Bytes16 b) noexcept {
  return [&]<int... kByte>(std::integer_sequence<int, kByte...>) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b,
                                   (kByte / kBytes % 2 * 16 + kByte / (2 * kBytes) * kBytes +
                                    kByte % kBytes + (kHigh ? 8 : 0))...);
  }
  (std::make_integer_sequence<int, 16>{});
}

}  // namespace
}  // namespace r1::kernels
