// Packing as docs/kernels.md describes it: every code is put into its bit planes on its own.
#include "kernels/reference/pack.hpp"

#include <cstring>

#include "kernels/formats/list.hpp"
#include "kernels/formats/panel_layout.hpp"

namespace r1::kernels::reference {
namespace {

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

/// Writes one row's metadata (kHalfs little-endian 16-bit fields, then kBytes bytes) into a packed
/// block.
template <class Format>
void put_meta(std::uint8_t* packed, std::int64_t row, const std::uint8_t* meta) noexcept {
  constexpr int kHalfBytes = 2 * Format::kHalfs;
  for (int i = 0; i < kHalfBytes; ++i) {
    packed[(i / 2 * kPanelRows + row) * 2 + i % 2] = meta[i];
  }
  for (int i = kHalfBytes; i < kMetaBytes<Format>; ++i) packed[i * kPanelRows + row] = meta[i];
}

template <class Format>
void pack_plain(const std::uint8_t* rows, std::int64_t row_count, std::int64_t k,
                std::uint8_t* panel) noexcept {
  constexpr int kBytes = Format::kValueBytes;
  for (std::int64_t row = 0; row < row_count; ++row) {
    for (std::int64_t i = 0; i < k; ++i) {
      std::memcpy(panel + (i * kPanelRows + row) * kBytes, rows + (row * k + i) * kBytes, kBytes);
    }
  }
}

template <class Format>
void pack_codes(const std::uint8_t* rows, std::int64_t row_count, std::int64_t k,
                std::uint8_t* panel) noexcept {
  constexpr int kValues = Format::kInfo.block_values;
  const std::int64_t blocks = k / kValues;
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (int row = 0; row < kPanelRows; ++row) {
      std::uint8_t from[Format::kInfo.block_bytes] = {};
      if (row < row_count) {
        std::memcpy(from, rows + (row * blocks + block) * Format::kInfo.block_bytes, sizeof(from));
      }
      std::uint8_t codes[kValues];
      std::uint8_t meta[kMetaBytes<Format>];
      Format::split(from, codes, meta);
      for (int v = 0; v < kValues; ++v) {
        const std::int64_t block32 = block * (kValues / 32) + v / 32;
        put_code<Format::kBits>(panel + block32 * block_code_bytes(Format::kBits), row, v % 32,
                                codes[v]);
      }
      put_meta<Format>(panel + panel_code_bytes<Format>(k) + block * kBlockMetaBytes<Format>, row,
                       meta);
    }
  }
}

}  // namespace

void pack_panel(WeightType type, const std::byte* rows, std::int64_t row_count, std::int64_t k,
                std::byte* panel) noexcept {
  for_each_format<PlainFormats, BlockFormats, SuperFormats, TableFormats>([&]<class Format>() {
    if (Format::kType != type) return;
    std::memset(panel, 0, static_cast<std::size_t>(panel_total_bytes<Format>(k)));
    const auto* from = reinterpret_cast<const std::uint8_t*>(rows);
    auto* to = reinterpret_cast<std::uint8_t*>(panel);
    if constexpr (kIsPlain<Format>) {
      pack_plain<Format>(from, row_count, k, to);
    } else {
      pack_codes<Format>(from, row_count, k, to);
    }
  });
}

}  // namespace r1::kernels::reference
