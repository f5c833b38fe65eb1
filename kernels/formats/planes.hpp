// Codes of a panel's block of 32 k, cut into bit planes. A k-group is 4 consecutive k of 16 rows
// side by side: 64 bytes, byte 4 * row + k % 4. The block's 8 k-groups lie, by the bits of a code:
//   8 bits: 8 loads of 64 bytes, one k-group each.
//   4 bits: 4 loads; load i has k-group i in its low and i + 4 in its high nibbles.
//   2 bits: 2 loads; load i has k-group 4i + j in bits 2j and 2j + 1.
//   1 bit:  1 load; bit j is k-group j.
// Codes of 3, 5 and 6 bits are the sum of a wider plane (the lower bits) and a narrower one behind
// it.
#pragma once

#include <cstdint>

namespace r1::kernels {
namespace {

inline constexpr int kGroupBytes = 64;
/// Bytes of 32 k x 16 rows of codes.
constexpr int block_code_bytes(int bits) { return bits * kGroupBytes; }

/// The code of (row, k), k in [0, 32).
template <int kBits>
unsigned get_code(const std::uint8_t* block, int row, int k) noexcept {
  const int group = k / 4;
  const std::uint8_t* at = block + 4 * row + k % 4;
  unsigned code = 0;
  if constexpr (kBits == 8) {
    return at[group * kGroupBytes];
  }
  int position = 0;
  if constexpr ((kBits & 4) != 0) {
    code = at[group % 4 * kGroupBytes] >> (group / 4 * 4) & 15;
    at += 4 * kGroupBytes;
    position = 4;
  }
  if constexpr ((kBits & 2) != 0) {
    code |= (at[group / 4 * kGroupBytes] >> (group % 4 * 2) & 3U) << position;
    at += 2 * kGroupBytes;
    position += 2;
  }
  if constexpr ((kBits & 1) != 0) {
    code |= (*at >> group & 1U) << position;
  }
  return code;
}

/// True for tiers whose shift_right moves bytes; that of the others moves 16-bit lanes.
template <class Isa>
inline constexpr bool kShiftsBytes = requires {
  Isa::kByteShifts;
};

/// Bits [kPosition, kPosition + kBits) of each byte. A mask drops what crosses a byte's border.
template <class Isa, int kPosition, int kBits>
[[gnu::always_inline]] inline typename Isa::I byte_field(typename Isa::I bytes) noexcept {
  const auto shifted = Isa::template shift_right<kPosition>(bytes);
  if constexpr (kShiftsBytes<Isa> && kPosition + kBits == 8) {
    return shifted;
  } else {
    return Isa::bits_and(shifted, Isa::bytes((1 << kBits) - 1));
  }
}

/// One vector of k-group kGroup as bytes in [0, 2^kBits). `block` points at the vector's first row
/// in the block's first load.
template <class Isa, int kBits, int kGroup>
[[gnu::always_inline]] inline typename Isa::I group_codes(const std::uint8_t* block) noexcept {
  if constexpr (kBits == 8) {
    return Isa::load(block + kGroup * kGroupBytes);
  } else {
    typename Isa::I code;
    if constexpr ((kBits & 4) != 0) {
      code = Isa::load(block + kGroup % 4 * kGroupBytes);
      code = byte_field<Isa, kGroup / 4 * 4, 4>(code);
    }
    if constexpr ((kBits & 2) != 0) {
      constexpr int kPosition = (kBits & 4) != 0 ? 4 : 0;
      constexpr int kOffset = (kBits & 4) * kGroupBytes + kGroup / 4 * kGroupBytes;
      const auto pairs = Isa::load(block + kOffset);
      if constexpr (kPosition != 0) {
        code = Isa::and_or(Isa::template shift_right<kGroup % 4 * 2 - kPosition>(pairs),
                           Isa::bytes(3 << kPosition), code);
      } else {
        code = byte_field<Isa, kGroup % 4 * 2, 2>(pairs);
      }
    }
    if constexpr ((kBits & 1) != 0) {
      constexpr int kPosition = kBits - 1;
      const auto ones =
          Isa::template shift_right<kGroup - kPosition>(Isa::load(block + kPosition * kGroupBytes));
      code = Isa::and_or(ones, Isa::bytes(1 << kPosition), code);
    }
    return code;
  }
}

}  // namespace
}  // namespace r1::kernels
