// Parts that the K-quants (super-blocks of 256 values) share: how their codes lie in a GGUF block,
// and the 6-bit scales and minima of Q4_K and Q5_K in 12 bytes. Bits of the 12 bytes, by sub-block
// 0..7 = a..h:
//   0..3: hhssssss  low six bits scale a..d, high two the upper bits of scale e..h
//   4..7: the same for the minima
//   8..11: mmmmssss  lower four bits of scale and minimum e..h
#pragma once

#include <cstdint>

#include "kernels/formats/block_meta.hpp"
#include "kernels/formats/bytes16.hpp"
#include "kernels/formats/half.hpp"
#include "kernels/generic/unroll.hpp"

namespace r1::kernels {
namespace {

inline constexpr int kSuperValues = 256;

/// Scale and minimum of sub-block j from the 12 bytes.
inline void six_bit_pair(const std::uint8_t* bytes, int j, int& scale, int& min) noexcept {
  if (j < 4) {
    scale = bytes[j] & 63;
    min = bytes[j + 4] & 63;
  } else {
    scale = (bytes[j + 4] & 15) | (bytes[j - 4] >> 6) << 4;
    min = bytes[j + 4] >> 4 | (bytes[j] >> 6) << 4;
  }
}

/// out[256] = d * scale * code - dmin * min, the value of Q4_K and Q5_K. meta: d, dmin, 12 bytes.
inline void decode_six_bit(const std::uint8_t* codes, const std::uint8_t* meta,
                           float* out) noexcept {
  const float d = read_f16(meta);
  const float dmin = read_f16(meta + 2);
  for (int j = 0; j < 8; ++j) {
    int scale;
    int min;
    six_bit_pair(meta + 4, j, scale, min);
    const float step = d * static_cast<float>(scale);
    const float low = dmin * static_cast<float>(min);
    for (int i = 32 * j; i < 32 * j + 32; ++i) out[i] = step * static_cast<float>(codes[i]) - low;
  }
}

/// The same for the rows of a vector: scale[8] = d * scale, addend[8] = -dmin * min; both exact.
template <class Isa, class Format>
void six_bit_scales(const MetaReader<Isa, Format>& meta, typename Isa::F* scale,
                    typename Isa::F* addend) noexcept {
  const auto d = meta.half(0);
  const auto negative_dmin = Isa::negate(meta.half(1));
  unroll<4>([&](auto j) __attribute__((always_inline)) {
    const auto first = meta.byte(j);
    const auto second = meta.byte(j + 4);
    const auto mixed = meta.byte(j + 8);
    const auto high = Isa::bytes(0x30);
    const auto emit = [&](int at, typename Isa::I s, typename Isa::I m) {
      scale[at] = Isa::mul(d, Isa::to_float(s));
      addend[at] = Isa::mul(negative_dmin, Isa::to_float(m));
    };
    emit(j, Isa::bits_and(first, Isa::bytes(63)), Isa::bits_and(second, Isa::bytes(63)));
    emit(j + 4,
         Isa::and_or(Isa::template shift_right<2>(first), high,
                     Isa::bits_and(mixed, Isa::bytes(15))),
         Isa::and_or(Isa::template shift_right<2>(second), high,
                     Isa::template shift_right<4>(mixed)));
  });
}

/// codes[256] |= pairs of bits: value 128 n + 32 j + i is at bit 2 j of byte 32 n + i; kPosition is
/// where the pair belongs in the code.
template <int kPosition>
void add_bit_pairs(const std::uint8_t* bytes, std::uint8_t* codes) noexcept {
  for (int at = 0; at < kSuperValues / 4; at += 16) {
    const Bytes16 four = load16(bytes + at);
    std::uint8_t* to = codes + at / 32 * 128 + at % 32;
    unroll<4>([&](auto j) __attribute__((always_inline)) {
      or16(to + 32 * j, move_bits<3, 2 * j, kPosition>(four));
    });
  }
}

/// codes[256] |= single bits: value 32 j + i is bit j of byte i.
template <int kPosition>
void add_strided_bits(const std::uint8_t* bytes, std::uint8_t* codes) noexcept {
  for (int at = 0; at < 32; at += 16) {
    const Bytes16 eight = load16(bytes + at);
    unroll<8>([&](auto j) __attribute__((always_inline)) {
      or16(codes + 32 * j + at, move_bits<1, j, kPosition>(eight));
    });
  }
}

}  // namespace
}  // namespace r1::kernels
