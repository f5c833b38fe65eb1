// y = x W^T for quantized weights: walks panels, chunks of k and blocks of rows. One row reads the
// packed codes straight into the dot; more rows unpack a chunk once into a buffer in L1 and
// multiply it with all of them.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/api/table.hpp"
#include "kernels/generic/epilogue.hpp"
#include "kernels/generic/q8_chunk.hpp"

namespace r1::kernels {
namespace {

template <class Isa>
inline constexpr int kPanelVecs = static_cast<int>(kPanelRows) / Isa::kLanes;

/// std::min is a weak function, and those have no place in a tier's objects.
constexpr std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// Activation rows that share one unpacked chunk. 96 rows x 256 codes and their sums stay in L1
/// beside it (bench/matmul_bench.cpp).
inline constexpr int kRowBlock = 96;

/// A tile of kVecs neighbouring vectors of rows of W. When fewer are left the last one stands in
/// for those that lack, and is stored once.
template <class Isa, class Format, int kVecs>
class Q8Tile {
 public:
  /// The tile's vectors are [first_vec, min(first_vec + kVecs, end_vec)), counted over all panels.
  Q8Tile(const MatmulArgs& args, std::int64_t first_vec, std::int64_t end_vec) noexcept
      : args_(args),
        first_vec_(first_vec),
        vecs_(static_cast<int>(lesser(end_vec - first_vec, kVecs))),
        code_bytes_(panel_code_bytes<Format>(args.k)),
        panel_bytes_(panel_total_bytes<Format>(args.k)) {}

  /// Computes and stores row 0, reading the packed codes once and in order.
  void run_one() const noexcept {
    alignas(64) float sums[kVecs * Isa::kLanes] = {};
    for (std::int64_t k0 = 0; k0 < args_.k; k0 += kChunkValues) {
      prefetch_meta(k0);
      Scales scales[kVecs];
      load(k0, scales);
      multiply_chunk<Isa, Shape, PackedCodes<Isa, Format, kVecs>, kVecs, 1>(
          packed(k0), scales, activations(0, k0), blocks_of(k0), sums);
    }
    store(sums, 0, 1);
  }

  /// Computes and stores rows [first_row, first_row + rows), rows <= kRowBlock.
  void run_many(std::int64_t first_row, int rows) const noexcept {
    alignas(64) float sums[kRowBlock * kVecs * Isa::kLanes];
    alignas(64) std::uint8_t staged[kChunkBlocks * 8 * kVecs * kVectorBytes<Isa>];
    std::memset(sums, 0, static_cast<std::size_t>(rows * kVecs * kVectorBytes<Isa>));
    for (std::int64_t k0 = 0; k0 < args_.k; k0 += kChunkValues) {
      Scales scales[kVecs];
      load(k0, scales);
      stage_codes(packed(k0), blocks_of(k0), staged);
      multiply_rows(staged, scales, activations(first_row, k0), blocks_of(k0), rows, sums);
    }
    store(sums, first_row, rows);
  }

 private:
  using Shape = KindOf<Isa, Format>;
  using Scales = VectorScales<Isa, Shape>;

  int blocks_of(std::int64_t k0) const noexcept {
    return static_cast<int>(lesser(args_.k - k0, kChunkValues) / 32);
  }

  void load(std::int64_t k0, Scales* out) const noexcept {
    for (int v = 0; v < kVecs; ++v) {
      load_scales<Isa, Format>(panel_of(v) + meta_offset(k0), row_of(v), blocks_of(k0), out[v]);
    }
  }

  PackedCodes<Isa, Format, kVecs> packed(std::int64_t k0) const noexcept {
    PackedCodes<Isa, Format, kVecs> out;
    for (int v = 0; v < kVecs; ++v) {
      out.first[v] = panel_of(v) + k0 / 32 * block_code_bytes(Format::kBits) + 4 * row_of(v);
    }
    out.end = panel_of(0) + code_bytes_;
    out.gap = panel_bytes_ - code_bytes_;
    return out;
  }

  static void multiply_rows(const std::uint8_t* staged, const Scales* scales, ActivationChunk x,
                            int blocks, int rows, float* sums) noexcept {
    using Codes = StagedCodes<Isa, kVecs>;
    int left = rows;
    const auto take = [&]<int kRows>() {
      for (; left >= kRows; left -= kRows) {
        prefetch_rows(x, kRows, left - kRows < kRows ? left - kRows : kRows);
        multiply_chunk<Isa, Shape, Codes, kVecs, kRows>(Codes{staged}, scales, x, blocks, sums);
        x.codes += kRows * x.stride;
        x.scales += kRows * x.stride;
        x.sums += kRows * x.stride;
        sums += kRows * kVecs * Isa::kLanes;
      }
    };
    take.template operator()<Isa::kTileRows>();
    if constexpr (Isa::kTileRows > 4) take.template operator()<4>();
    take.template operator()<2>();
    take.template operator()<1>();
  }

  /// Rows [first, first + count) of a chunk: the next tile's, which come from L2.
  static void prefetch_rows(const ActivationChunk& x, int first, int count) noexcept {
    for (int r = first; r < first + count; ++r) {
      for (int i = 0; i < kChunkValues; i += 64) Isa::prefetch(x.codes + r * x.stride + i);
      Isa::prefetch(x.scales + r * x.stride);
      Isa::prefetch(x.sums + r * x.stride);
    }
  }

  ActivationChunk activations(std::int64_t first_row, std::int64_t k0) const noexcept {
    const auto* row = reinterpret_cast<const std::uint8_t*>(args_.x) + first_row * args_.x_stride;
    return {row + k0, row + q8_scales_offset(args_.k) + k0 / 32 * 4,
            row + q8_sums_offset(args_.k) + k0 / 16 * 2, args_.x_stride, kDotOffset<Isa, Format>};
  }

  void store(const float* sums, std::int64_t first_row, int rows) const noexcept {
    for (int v = 0; v < vecs_; ++v) {
      store_sums<Isa>(args_, sums + v * Isa::kLanes, kVecs * Isa::kLanes, first_row, rows,
                      (first_vec_ + v) * Isa::kLanes);
    }
  }

  void prefetch_meta(std::int64_t k0) const noexcept {
    constexpr std::int64_t kMetaChunk =
        kChunkValues / Format::kInfo.block_values * kBlockMetaBytes<Format>;
    const std::uint8_t* ahead = panel_of(0) + meta_offset(k0) + kMetaChunk;
    if (ahead >= panel_of(0) + panel_bytes_) ahead += code_bytes_;
    for (std::int64_t i = 0; i < kMetaChunk; i += 64) Isa::prefetch(ahead + i);
  }

  std::int64_t vec_of(int v) const noexcept { return first_vec_ + (v < vecs_ ? v : vecs_ - 1); }
  int row_of(int v) const noexcept {
    return static_cast<int>(vec_of(v) % kPanelVecs<Isa>) * Isa::kLanes;
  }
  const std::uint8_t* panel_of(int v) const noexcept {
    return reinterpret_cast<const std::uint8_t*>(args_.panels) +
           vec_of(v) / kPanelVecs<Isa> * panel_bytes_;
  }
  std::int64_t meta_offset(std::int64_t k0) const noexcept {
    return code_bytes_ + k0 / Format::kInfo.block_values * kBlockMetaBytes<Format>;
  }

  const MatmulArgs& args_;
  const std::int64_t first_vec_;
  const int vecs_;
  const std::int64_t code_bytes_;
  const std::int64_t panel_bytes_;
};

/// The kernel of MatrixKernels::matmul for quantized formats.
template <class Isa, class Format>
void matmul_q8(const MatmulArgs& args) noexcept {
  const std::int64_t begin = args.panel_begin * kPanelVecs<Isa>;
  const std::int64_t end =
      lesser(args.panel_end * kPanelVecs<Isa>, (args.n + Isa::kLanes - 1) / Isa::kLanes);
  if (args.m == 1) {
    for (std::int64_t vec = begin; vec < end; vec += kPanelVecs<Isa>) {
      Q8Tile<Isa, Format, kPanelVecs<Isa>>(args, vec, end).run_one();
    }
    return;
  }
  for (std::int64_t vec = begin; vec < end; vec += Isa::kTileVecs) {
    const Q8Tile<Isa, Format, Isa::kTileVecs> tile(args, vec, end);
    for (std::int64_t row = 0; row < args.m; row += kRowBlock) {
      tile.run_many(row, static_cast<int>(lesser(args.m - row, kRowBlock)));
    }
  }
}

}  // namespace
}  // namespace r1::kernels
