// y = x W^T for quantized weights: walks panels, chunks of k and blocks of rows. One row reads the
// packed codes straight into the dot; many rows unpack a chunk once into a buffer in L1 and
// multiply it with all of them; a few unpack it for each of their tiles.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/api/table.hpp"
#include "kernels/generic/epilogue.hpp"
#include "kernels/generic/line_queue.hpp"
#include "kernels/generic/q8_chunk.hpp"

namespace r1::kernels {
namespace {

template <class Isa>
inline constexpr int kPanelVecs = static_cast<int>(kPanelRows) / Isa::kLanes;

/// std::min is a weak function, and those have no place in a tier's objects.
constexpr std::int64_t lesser(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// Activation rows that share one unpacked chunk; a multiple of every tier's kTileRows
/// (bench/matmul_bench.cpp).
inline constexpr int kRowBlock = 192;

/// Rows up to which unpacking for each tile is cheaper than once into a buffer.
template <class Isa>
inline constexpr int kFewRows = 2 * Isa::kDirectRows;

/// A tile of kVecs neighbouring vectors of rows of W. When fewer are left the last one stands in
/// for those that lack, and is stored once.
template <class Isa, class Format, int kVecs>
class Q8Tile {
 public:
  using Packed = PackedCodes<Isa, Format, kVecs>;

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
      multiply_chunk<Isa, Shape, Streamed, kVecs, 1>(Streamed{packed(k0), ahead()}, scales,
                                                     activations(0, k0), blocks_of(k0), sums);
    }
    store(sums, 0, 1);
  }

  /// Adds chunk k0 to the sums of a few rows (at most kFewRows), unpacking for each tile;
  /// `next` are the codes that come next.
  void add_few(std::int64_t k0, int rows, const Packed& next, LineQueue& ahead,
               float* sums) const noexcept {
    Scales scales[kVecs];
    load(k0, scales);
    multiply_rows<FollowedCodes<Isa, Format, kVecs>, Isa::kDirectRows>(
        {packed(k0), next}, scales, activations(0, k0), blocks_of(k0), rows, ahead, sums);
  }

  /// Adds chunk k0 to the sums of many rows, unpacking once for all.
  void add_many(std::int64_t k0, std::int64_t first_row, int rows, LineQueue& ahead,
                float* sums) const noexcept {
    alignas(64) std::uint8_t staged[kChunkBlocks * 8 * kVecs * kVectorBytes<Isa>];
    Scales scales[kVecs];
    load(k0, scales);
    stage_codes(packed(k0), blocks_of(k0), staged);
    multiply_rows<StagedCodes<Isa, kVecs>, Isa::kTileRows>(
        {staged}, scales, activations(first_row, k0), blocks_of(k0), rows, ahead, sums);
  }

  /// Queues chunk k0 for prefetching, without its codes when those are followed.
  void queue_chunk(std::int64_t k0, bool followed, LineQueue& ahead) const noexcept {
    const std::int64_t codes = followed ? 0 : blocks_of(k0) * block_code_bytes(Format::kBits);
    const std::int64_t meta = meta_offset(k0 + 32 * blocks_of(k0)) - meta_offset(k0);
    for (int v = 0; v < vecs_; v += kPanelVecs<Isa>) {
      ahead.add(panel_of(v) + k0 / 32 * block_code_bytes(Format::kBits), codes);
      ahead.add(panel_of(v) + meta_offset(k0), meta);
    }
  }

  /// The tile's codes of chunk k0.
  Packed packed(std::int64_t k0) const noexcept {
    Packed out;
    for (int v = 0; v < kVecs; ++v) {
      out.first[v] = panel_of(v) + k0 / 32 * block_code_bytes(Format::kBits) + 4 * row_of(v);
    }
    return out;
  }

  /// Stores finished sums of rows [first_row, first_row + rows).
  void store(const float* sums, std::int64_t first_row, int rows) const noexcept {
    for (int v = 0; v < vecs_; ++v) {
      store_sums<Isa>(args_, sums + v * Isa::kLanes, kVecs * Isa::kLanes, first_row, rows,
                      (first_vec_ + v) * Isa::kLanes);
    }
  }

 private:
  using Shape = KindOf<Isa, Format>;
  using Scales = VectorScales<Isa, Shape>;
  using Streamed = StreamedCodes<Isa, Format, kVecs>;

  int blocks_of(std::int64_t k0) const noexcept {
    return static_cast<int>(lesser(args_.k - k0, kChunkValues) / 32);
  }

  void load(std::int64_t k0, Scales* out) const noexcept {
    for (int v = 0; v < kVecs; ++v) {
      load_scales<Isa, Format>(panel_of(v) + meta_offset(k0), row_of(v), blocks_of(k0), out[v]);
    }
  }

  CodesAhead ahead() const noexcept {
    return {panel_of(0) + code_bytes_, panel_bytes_ - code_bytes_};
  }

  template <class Codes, int kRowsMax>
  static void multiply_rows(const Codes& codes, const Scales* scales, ActivationChunk x, int blocks,
                            int rows, LineQueue& ahead, float* sums) noexcept {
    const int share = ahead.lines() / (rows / kRowsMax + 1) + 1;
    int left = rows;
    const auto take = [&]<int kRows>() {
      for (; left >= kRows; left -= kRows) {
        ahead.ask(share);
        multiply_chunk<Isa, Shape, Codes, kVecs, kRows>(codes, scales, x, blocks, sums);
        x.codes += kRows * x.stride;
        x.scales += kRows * x.stride;
        x.sums += kRows * x.stride;
        sums += kRows * kVecs * Isa::kLanes;
      }
    };
    take.template operator()<kRowsMax>();
    if constexpr (kRowsMax > 4) take.template operator()<4>();
    if constexpr (kRowsMax > 2) take.template operator()<2>();
    take.template operator()<1>();
  }

  ActivationChunk activations(std::int64_t first_row, std::int64_t k0) const noexcept {
    const auto* row = reinterpret_cast<const std::uint8_t*>(args_.x) + first_row * args_.x_stride;
    return {row + k0, row + q8_scales_offset(args_.k) + k0 / 32 * 4,
            row + q8_sums_offset(args_.k) + k0 / 16 * 2, args_.x_stride, kDotOffset<Isa, Format>};
  }

  /// The metadata of the chunk after the next: what prefetching codes kPrefetchBytes ahead is to
  /// them.
  void prefetch_meta(std::int64_t k0) const noexcept {
    constexpr std::int64_t kMetaChunk =
        kChunkValues / Format::kInfo.block_values * kBlockMetaBytes<Format>;
    const std::uint8_t* ahead = panel_of(0) + meta_offset(k0) + 2 * kMetaChunk;
    if (ahead >= panel_of(0) + panel_bytes_) ahead += code_bytes_;
    for (std::int64_t i = 0; i < kMetaChunk; i += 64) prefetch(ahead + i);
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

/// Tiles whose sums are kept side by side, so that a chunk of activations serves all of them from
/// the second-level cache before the next one is read.
inline constexpr int kGroupTiles = 4;

/// Rows whose finished sums are stored before those of the next tile: lines of y lie far apart.
inline constexpr int kStoreRows = 8;

/// Some rows x a group of neighbouring tiles.
template <class Isa, class Format>
class Q8Group {
 public:
  /// The group's vectors are [first_vec, ...) up to kGroupTiles tiles, the matrix' end at end_vec.
  Q8Group(const MatmulArgs& args, std::int64_t first_vec, std::int64_t end_vec) noexcept
      : args_(args),
        first_vec_(first_vec),
        end_vec_(end_vec),
        tiles_(static_cast<int>(
            lesser((end_vec - first_vec + kVecs - 1) / kVecs, std::int64_t{kGroupTiles}))) {}

  /// Computes and stores rows [row, row + rows), rows <= kRowBlock.
  void run(std::int64_t row, int rows) const noexcept {
    alignas(64) float sums[kGroupTiles][kRowBlock * kVecs * Isa::kLanes];
    for (int t = 0; t < tiles_; ++t) {
      std::memset(sums[t], 0, static_cast<std::size_t>(rows * kVecs * kVectorBytes<Isa>));
    }
    const bool few = args_.m <= kFewRows<Isa>;
    const std::int64_t chunks = (args_.k + kChunkValues - 1) / kChunkValues;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      for (int t = 0; t < tiles_; ++t) {
        const std::int64_t k0 = chunk * kChunkValues;
        const Place next = after({t, k0});
        LineQueue ahead;
        tile(next.tile).queue_chunk(next.k0, few, ahead);
        queue_results(chunk * tiles_ + t, chunks * tiles_, row, rows, ahead);
        if (few) {
          tile(t).add_few(k0, rows, tile(next.tile).packed(next.k0), ahead, sums[t]);
        } else {
          tile(t).add_many(k0, row, rows, ahead, sums[t]);
        }
      }
    }
    for (int r = 0; r < rows; r += kStoreRows) {
      const int count = static_cast<int>(lesser(rows - r, kStoreRows));
      for (int t = 0; t < tiles_; ++t) {
        tile(t).store(sums[t] + r * kVecs * Isa::kLanes, row + r, count);
      }
    }
  }

 private:
  static constexpr int kVecs = Isa::kTileVecs;
  static_assert(kRowBlock % Isa::kTileRows == 0);
  using Tile = Q8Tile<Isa, Format, kVecs>;

  Tile tile(int t) const noexcept { return Tile(args_, first_vec_ + t * kVecs, end_vec_); }

  /// A chunk of a tile.
  struct Place {
    int tile;
    std::int64_t k0;
  };
  /// What comes after a chunk: the next tile's, the next chunk's, or the next group's first. At the
  /// end the chunk itself, which is there.
  Place after(Place place) const noexcept {
    if (place.tile + 1 < tiles_) return {place.tile + 1, place.k0};
    if (place.k0 + kChunkValues < args_.k) return {0, place.k0 + kChunkValues};
    if (first_vec_ + tiles_ * kVecs < end_vec_) return {tiles_, 0};
    return place;
  }

  /// Part `part` of `parts` of the group's lines of y.
  void queue_results(std::int64_t part, std::int64_t parts, std::int64_t row, int rows,
                     LineQueue& ahead) const noexcept {
    const std::int64_t column = first_vec_ * Isa::kLanes;
    const std::int64_t columns = lesser(tiles_ * kVecs * Isa::kLanes, args_.n - column);
    const std::int64_t first = rows * part / parts;
    ahead.add(args_.y + (row + first) * args_.y_stride + column, columns * 4,
              rows * (part + 1) / parts - first, args_.y_stride * 4);
  }

  const MatmulArgs& args_;
  const std::int64_t first_vec_;
  const std::int64_t end_vec_;
  const int tiles_;
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
  // Blocks of rows of about one size.
  const std::int64_t blocks = (args.m + kRowBlock - 1) / kRowBlock;
  const std::int64_t even = (args.m + blocks - 1) / blocks;
  const std::int64_t step = (even + Isa::kTileRows - 1) / Isa::kTileRows * Isa::kTileRows;
  for (std::int64_t row = 0; row < args.m; row += step) {
    const int rows = static_cast<int>(lesser(args.m - row, step));
    for (std::int64_t vec = begin; vec < end; vec += kGroupTiles * Isa::kTileVecs) {
      Q8Group<Isa, Format>(args, vec, end).run(row, rows);
    }
  }
}

}  // namespace
}  // namespace r1::kernels
