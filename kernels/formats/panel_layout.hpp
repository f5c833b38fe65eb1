// Where things lie in a packed panel of 16 rows x k. Quantized: the codes of all blocks of 32 k
// (planes.hpp), then the metadata of all file blocks (block_meta.hpp), both streams in order of k
// and aligned to 64 bytes. Plain floats: [k padded to a multiple of 4][16 rows] in the file's own
// width.
#pragma once

#include <cstdint>

#include "kernels/api/args.hpp"
#include "kernels/formats/block_meta.hpp"
#include "kernels/formats/planes.hpp"

namespace r1::kernels {
namespace {

/// The next multiple of 64 at or above n.
constexpr std::int64_t round_up_64(std::int64_t n) { return (n + 63) / 64 * 64; }

template <class Format>
inline constexpr bool kIsPlain = Format::kInfo.encoding == ActivationEncoding::f32;

/// True for formats whose codes are indices of kIq4Values.
template <class Format>
inline constexpr bool kIsTable = requires {
  Format::kTable;
};

/// Bytes of one file block's metadata of 16 rows.
template <class Format>
inline constexpr std::int64_t kBlockMetaBytes = kMetaBytes<Format>* kPanelRows;

/// Bytes of a panel's codes; the metadata begins there. k: a multiple of 32.
template <class Format>
constexpr std::int64_t panel_code_bytes(std::int64_t k) {
  return k / 32 * block_code_bytes(Format::kBits);
}

/// Bytes of a panel.
template <class Format>
constexpr std::int64_t panel_total_bytes(std::int64_t k) {
  if constexpr (kIsPlain<Format>) {
    return round_up_64((k + 3) / 4 * 4 * kPanelRows * Format::kValueBytes);
  } else {
    return round_up_64(panel_code_bytes<Format>(k) +
                       k / Format::kInfo.block_values * kBlockMetaBytes<Format>);
  }
}

/// Parts of an encoded q8 row: the codes begin at 0.
constexpr std::int64_t q8_scales_offset(std::int64_t k) { return round_up_64(k); }
constexpr std::int64_t q8_sums_offset(std::int64_t k) {
  return q8_scales_offset(k) + round_up_64(k / 32 * 4);
}
constexpr std::int64_t q8_row_bytes(std::int64_t k) {
  return q8_sums_offset(k) + round_up_64(k / 16 * 2);
}

}  // namespace
}  // namespace r1::kernels
