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

/// Adds the code of (row, k) to a block whose bytes started as zeros. k in [0, 32).
template <int kBits>
void put_code(std::uint8_t* block, int row, int k, unsigned code) noexcept {
  const int group = k / 4;
  std::uint8_t* at = block + 4 * row + k % 4;
  const auto add = [](std::uint8_t* p, unsigned bits) {
    *p = static_cast<std::uint8_t>(*p | bits);
  };
  if constexpr (kBits == 8) {
    at[group * kGroupBytes] = static_cast<std::uint8_t>(code);
  }
  if constexpr ((kBits & 4) != 0) {
    add(at + group % 4 * kGroupBytes, (code & 15) << (group / 4 * 4));
    at += 4 * kGroupBytes;
    code >>= 4;
  }
  if constexpr ((kBits & 2) != 0) {
    add(at + group / 4 * kGroupBytes, (code & 3) << (group % 4 * 2));
    at += 2 * kGroupBytes;
    code >>= 2;
  }
  if constexpr ((kBits & 1) != 0) {
    add(at, (code & 1) << group);
  }
}

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

/// One vector of k-group kGroup as bytes in [0, 2^kBits). `block` points at the vector's first row
/// in the block's first load.
template <class Isa, int kBits, int kGroup>
[[gnu::always_inline]] inline typename Isa::I group_codes(const std::uint8_t* block) noexcept {
  if constexpr (kBits == 8) {
    return Isa::load(block + kGroup * kGroupBytes);
  } else {
    // Shifts move 16-bit lanes; the masks drop what crosses a byte.
    typename Isa::I code;
    if constexpr ((kBits & 4) != 0) {
      code = Isa::load(block + kGroup % 4 * kGroupBytes);
      code = Isa::bits_and(Isa::template shift_right<kGroup / 4 * 4>(code), Isa::bytes(15));
    }
    if constexpr ((kBits & 2) != 0) {
      constexpr int kPosition = (kBits & 4) != 0 ? 4 : 0;
      constexpr int kOffset = (kBits & 4) * kGroupBytes + kGroup / 4 * kGroupBytes;
      const auto pairs =
          Isa::template shift_right<kGroup % 4 * 2 - kPosition>(Isa::load(block + kOffset));
      if constexpr (kPosition != 0) {
        code = Isa::and_or(pairs, Isa::bytes(3 << kPosition), code);
      } else {
        code = Isa::bits_and(pairs, Isa::bytes(3));
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
