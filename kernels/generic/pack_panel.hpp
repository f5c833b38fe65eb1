// GGUF rows to packed panels at the speed of memory. A block's codes are split into bytes row by
// row, 4 rows x 4 words of 4 codes at a time are transposed into k-groups, and the k-groups are
// merged into bit planes, all in vectors of 16 bytes. The layout is defined in docs/kernels.md and,
// one code at a time, in reference/pack.cpp.
#pragma once

#include <cstring>

#include "kernels/formats/panel_layout.hpp"
#include "kernels/generic/transpose.hpp"

namespace r1::kernels {
namespace {

/// The largest block of any format, in values and bytes.
inline constexpr int kBlockValuesMax = 256;
inline constexpr int kBlockBytesMax = 256;
/// Room for one row's metadata of a block, so that 16 bytes can be loaded from any field on.
inline constexpr int kMetaRoom = 32;

/// The codes and the metadata of one file block of 16 rows, row by row.
template <class Format>
struct SplitBlock {
  alignas(16) std::uint8_t codes[kPanelRows][Format::kInfo.block_values];
  alignas(16) std::uint8_t meta[kPanelRows][kMetaRoom];
};

/// Writes four rows' planes of a block of 32 k. groups[g]: k-group g, a word a row. `out`: the
/// first row's place in the block's first load.
template <int kBits>
[[gnu::always_inline]] inline void store_planes(const Bytes16 (&groups)[8],
                                                std::uint8_t* out) noexcept {
  constexpr int kLow = kBits & 4;
  if constexpr (kBits == 8) {
    unroll<8>([&](auto g)
                  __attribute__((always_inline)) { store16(out + g * kGroupBytes, groups[g]); });
  }
  if constexpr (kLow != 0) {
    unroll<4>([&](auto i) __attribute__((always_inline)) {
      store16(out + i * kGroupBytes, (groups[i] & 15) | move_bits<15, 0, 4>(groups[i + 4]));
    });
  }
  if constexpr ((kBits & 2) != 0) {
    unroll<2>([&](auto i) __attribute__((always_inline)) {
      Bytes16 pairs{};
      unroll<4>([&](auto j) __attribute__((always_inline)) {
        pairs |= move_bits<3, kLow, 2 * j>(groups[4 * i + j]);
      });
      store16(out + (kLow + i) * kGroupBytes, pairs);
    });
  }
  if constexpr ((kBits & 1) != 0) {
    Bytes16 bits{};
    unroll<8>([&](auto g) __attribute__((always_inline)) {
      bits |= move_bits<1, kBits - 1, g>(groups[g]);
    });
    store16(out + (kBits - 1) * kGroupBytes, bits);
  }
}

/// Packs the codes of a split block to `out`.
template <class Format>
void store_codes(const SplitBlock<Format>& block, std::uint8_t* out) noexcept {
  for (int k = 0; k < Format::kInfo.block_values; k += 32) {
    for (int row = 0; row < kPanelRows; row += 4) {
      Bytes16 first[4];
      Bytes16 second[4];
      unroll<4>([&](auto i) __attribute__((always_inline)) {
        first[i] = load16(block.codes[row + i] + k);
        second[i] = load16(block.codes[row + i] + k + 16);
      });
      transpose<4>(first);
      transpose<4>(second);
      store_planes<Format::kBits>(
          {first[0], first[1], first[2], first[3], second[0], second[1], second[2], second[3]},
          out + 4 * row);
    }
    out += block_code_bytes(Format::kBits);
  }
}

/// Packs the metadata of a split block to `out` (block_meta.hpp).
template <class Format>
void store_meta(const SplitBlock<Format>& block, std::uint8_t* out) noexcept {
  for (int h = 0; h < Format::kHalfs; ++h) {
    for (int row = 0; row < kPanelRows; ++row) {
      std::memcpy(out + 2 * row, block.meta[row] + 2 * h, 2);
    }
    out += 2 * kPanelRows;
  }
  if constexpr (Format::kBytes > 0) {
    static_assert(Format::kBytes <= 16 && 2 * Format::kHalfs + 16 <= kMetaRoom);
    Bytes16 fields[16];
    unroll<16>([&](auto row) __attribute__((always_inline)) {
      fields[row] = load16(block.meta[row] + 2 * Format::kHalfs);
    });
    transpose<1>(fields);
    unroll<Format::kBytes>([&](auto b) __attribute__((always_inline)) {
      store16(out + b * kPanelRows, fields[b]);
    });
  }
}

/// Packs a panel of a format with codes.
template <class Format>
void pack_codes(const std::uint8_t* rows, std::int64_t row_count, std::int64_t k,
                std::uint8_t* panel) noexcept {
  constexpr int kValues = Format::kInfo.block_values;
  static_assert(kValues <= kBlockValuesMax && Format::kInfo.block_bytes <= kBlockBytesMax);
  constexpr std::uint8_t kZeroBlock[kBlockBytesMax] = {};
  const std::int64_t blocks = k / kValues;
  std::uint8_t* codes_out = panel;
  std::uint8_t* meta_out = panel + panel_code_bytes<Format>(k);
  SplitBlock<Format> split{};
  for (std::int64_t row = row_count; row < kPanelRows; ++row) {
    Format::split(kZeroBlock, split.codes[row], split.meta[row]);
  }
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (std::int64_t row = 0; row < row_count; ++row) {
      Format::split(rows + (row * blocks + block) * Format::kInfo.block_bytes, split.codes[row],
                    split.meta[row]);
    }
    store_codes(split, codes_out);
    store_meta(split, meta_out);
    codes_out += kValues / 32 * block_code_bytes(Format::kBits);
    meta_out += kBlockMetaBytes<Format>;
  }
  std::memset(meta_out, 0,
              static_cast<std::size_t>(panel + panel_total_bytes<Format>(k) - meta_out));
}

/// Packs a panel of plain floats.
template <class Format>
void pack_plain(const std::uint8_t* rows, std::int64_t row_count, std::int64_t k,
                std::uint8_t* panel) noexcept {
  constexpr int kBytes = Format::kValueBytes;
  constexpr int kSide = kSquare<kBytes>;
  const auto column = [&](std::int64_t i) { return panel + i * kPanelRows * kBytes; };
  const std::int64_t squares = k / kSide * kSide;
  for (std::int64_t i = 0; i < squares; i += kSide) {
    for (std::int64_t first = 0; first < kPanelRows; first += kSide) {
      Bytes16 square[kSide];
      unroll<kSide>([&](auto r) __attribute__((always_inline)) {
        const std::int64_t row = first + r;
        square[r] = row < row_count ? load16(rows + (row * k + i) * kBytes) : Bytes16{};
      });
      transpose<kBytes>(square);
      unroll<kSide>([&](auto c) __attribute__((always_inline)) {
        store16(column(i + c) + first * kBytes, square[c]);
      });
    }
  }
  std::memset(column(squares), 0,
              static_cast<std::size_t>(panel + panel_total_bytes<Format>(k) - column(squares)));
  for (std::int64_t i = squares; i < k; ++i) {
    for (std::int64_t row = 0; row < row_count; ++row) {
      std::memcpy(column(i) + row * kBytes, rows + (row * k + i) * kBytes, kBytes);
    }
  }
}

}  // namespace
}  // namespace r1::kernels
