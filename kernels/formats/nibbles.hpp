// Helpers shared by formats whose GGUF blocks hold codes in nibbles, pairs of bits or single bits.
#pragma once

#include <cstdint>

namespace r1::kernels {
namespace {

/// codes[2 * kHalf]: the low nibbles of kHalf bytes, then their high nibbles.
template <int kHalf>
void split_nibbles(const std::uint8_t* bytes, std::uint8_t* codes) noexcept {
  for (int i = 0; i < kHalf; ++i) {
    codes[i] = bytes[i] & 15;
    codes[i + kHalf] = bytes[i] >> 4;
  }
}

/// Adds bit i of a little-endian 32-bit field to codes[i], at bit kPosition.
template <int kPosition>
void add_high_bits(const std::uint8_t* field, std::uint8_t* codes) noexcept {
  for (int i = 0; i < 32; ++i) {
    codes[i] = static_cast<std::uint8_t>(codes[i] | (field[i / 8] >> (i % 8) & 1) << kPosition);
  }
}

}  // namespace
}  // namespace r1::kernels
