// Metadata of a packed block: what a GGUF block has besides its codes, of 16 rows, field by field.
// First the 16-bit floats, [field][row], then single bytes, [field][row], so that one load takes
// one field of all rows. The size is that of the 16 rows in the file.
#pragma once

#include <cstdint>

#include "kernels/api/args.hpp"

namespace r1::kernels {
namespace {

/// Bytes of one row's metadata in a block.
template <class Format>
inline constexpr int kMetaBytes = 2 * Format::kHalfs + Format::kBytes;

/// Reads one row's metadata (kHalfs little-endian 16-bit fields, then kBytes bytes) from a packed
/// block.
template <class Format>
void get_meta(const std::uint8_t* packed, int row, std::uint8_t* meta) noexcept {
  for (int h = 0; h < Format::kHalfs; ++h) {
    meta[2 * h] = packed[(h * kPanelRows + row) * 2];
    meta[2 * h + 1] = packed[(h * kPanelRows + row) * 2 + 1];
  }
  for (int b = 0; b < Format::kBytes; ++b) {
    meta[2 * Format::kHalfs + b] = packed[(2 * Format::kHalfs + b) * kPanelRows + row];
  }
}

/// Reads fields of a packed block for the rows of one vector.
template <class Isa, class Format>
struct MetaReader {
  const std::uint8_t* packed;  ///< the block's metadata
  int row;                     ///< first row of the vector, a multiple of Isa::kLanes

  /// The 16-bit float field h as float32.
  typename Isa::F half(int h) const noexcept {
    return Isa::load_f16(packed + (h * kPanelRows + row) * 2);
  }
  /// The byte field b, zero-extended to 32 bits.
  typename Isa::I byte(int b) const noexcept {
    return Isa::load_u8(packed + (2 * Format::kHalfs + b) * kPanelRows + row);
  }
  /// The byte field b, sign-extended to 32 bits.
  typename Isa::I signed_byte(int b) const noexcept {
    return Isa::load_i8(packed + (2 * Format::kHalfs + b) * kPanelRows + row);
  }
};

}  // namespace
}  // namespace r1::kernels
