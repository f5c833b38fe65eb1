// Helpers shared by formats whose GGUF blocks hold codes in nibbles, pairs of bits or single bits.
#pragma once

#include <cstdint>

#include "kernels/formats/bytes16.hpp"

namespace r1::kernels {
namespace {

/// codes[2 * kHalf]: the low nibbles of kHalf bytes, then their high nibbles.
template <int kHalf>
void split_nibbles(const std::uint8_t* bytes, std::uint8_t* codes) noexcept {
  static_assert(kHalf % 16 == 0);
  for (int i = 0; i < kHalf; i += 16) {
    const Bytes16 both = load16(bytes + i);
    store16(codes + i, both & 15);
    store16(codes + i + kHalf, move_bits<15, 4, 0>(both));
  }
}

/// Adds bit i of a little-endian 32-bit field to codes[i], at bit kPosition.
template <int kPosition>
void add_high_bits(const std::uint8_t* field, std::uint8_t* codes) noexcept {
  constexpr Bytes16 kOneABit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  std::uint32_t word;
  std::memcpy(&word, field, 4);
  using Words = std::uint32_t __attribute__((vector_size(16)));
  const auto bytes = reinterpret_cast<Bytes16>(Words{word});
  const Bytes16 twice = interleave<1, false>(bytes, bytes);
  const Bytes16 four_times = interleave<2, false>(twice, twice);
  const auto add = [&](Bytes16 eight_times, std::uint8_t* to) {
    const auto set = reinterpret_cast<Bytes16>((eight_times & kOneABit) == kOneABit);
    or16(to, set & std::uint8_t{1 << kPosition});
  };
  add(interleave<4, false>(four_times, four_times), codes);
  add(interleave<4, true>(four_times, four_times), codes + 16);
}

}  // namespace
}  // namespace r1::kernels
