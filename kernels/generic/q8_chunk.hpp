// The inner kernel for quantized weights: a tile of vectors x activation rows over one chunk of 256
// k. Sums of a scale's values are integers and exact; each enters the row's float sum with
//   sum = fma(x_scale, scale * dot + addend * x_sum, sum)
// in order of k. That chain belongs to the format, so a result's bits depend neither on the tile
// nor on m.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/formats/iq4_table.hpp"
#include "kernels/formats/panel_layout.hpp"
#include "kernels/generic/prefetch.hpp"
#include "kernels/generic/unroll.hpp"

namespace r1::kernels {
namespace {

inline constexpr int kChunkValues = 256;
inline constexpr int kChunkBlocks = kChunkValues / 32;

/// True when the codes are signed once a tier's dot wants them so.
template <class Format>
inline constexpr bool kIsSigned = Format::kBits == 8 || kIsTable<Format>;

/// True when this tier's dot gets them as signed bytes; otherwise they are biased by 128.
template <class Isa, class Format>
inline constexpr bool kDotSigned = kIsSigned<Format>&& Isa::kSignedCodes;

/// What the dot's codes are too large by on this tier; corrected with the activation sums.
template <class Isa, class Format>
inline constexpr int kDotOffset = kDotSigned<Isa, Format> ? 0 : Format::kOffset;

/// All that the inner kernel knows of a format. Formats of one kind share its code.
template <int kScaleValues_, bool kHasAddend_, bool kHasOffset_, bool kSigned_, int kWidenGroups_>
struct Kind {
  static constexpr int kScaleValues = kScaleValues_;
  static constexpr bool kHasAddend = kHasAddend_;
  static constexpr bool kHasOffset = kHasOffset_;
  static constexpr bool kSigned = kSigned_;           ///< products of signed bytes meet in int16
  static constexpr int kWidenGroups = kWidenGroups_;  ///< k-groups whose int16 products are added
  static constexpr int kScales = kChunkValues / kScaleValues;  ///< a chunk
};

/// k-groups whose int16 products may be added before they are widened: two products of the largest
/// code and 127 each have to fit 32767 together. Signed codes reach 128. Of no meaning with
/// kByteDot.
template <class Isa, class Format>
constexpr int widen_groups() {
  [[maybe_unused]] constexpr int kGroups = Format::kScaleValues / 4;
  if constexpr (Isa::kByteDot || kIsSigned<Format>) {
    return 1;
  } else {
    constexpr int kFit = 32767 / (2 * 127 * ((1 << Format::kBits) - 1));
    return kFit < kGroups ? kFit : kGroups;
  }
}

template <class Isa, class Format>
using KindOf = Kind<Format::kScaleValues, Format::kHasAddend, kDotOffset<Isa, Format> != 0,
                    kDotSigned<Isa, Format> && !Isa::kByteDot, widen_groups<Isa, Format>()>;

/// Scales of one chunk and one vector of rows, ready for the epilogue.
template <class Isa, class Kind>
struct VectorScales {
  typename Isa::F scale[Kind::kScales];
  typename Isa::F offset[Isa::kSumStart != 0 ? Kind::kScales : 1];  ///< scale * kSumStart's float
  typename Isa::F addend[Kind::kHasAddend ? Kind::kScales : 1];
};

/// Reads the scales of `blocks` blocks of 32 from packed metadata. `row` is the vector's row in its
/// panel.
template <class Isa, class Format>
[[gnu::always_inline]] inline void load_scales(
    const std::uint8_t* meta, int row, int blocks,
    VectorScales<Isa, KindOf<Isa, Format>>& out) noexcept {
  constexpr int kBlocks = Format::kInfo.block_values / 32;
  constexpr int kScales = Format::kInfo.block_values / Format::kScaleValues;
  for (int block = 0; block < blocks; block += kBlocks) {
    const int at = block / kBlocks * kScales;
    const MetaReader<Isa, Format> reader{meta + block / kBlocks * kBlockMetaBytes<Format>, row};
    Format::template scales<Isa>(reader, out.scale + at,
                                 out.addend + (Format::kHasAddend ? at : 0));
    if constexpr (Isa::kSumStart != 0) {
      for (int i = at; i < at + kScales; ++i) {
        out.offset[i] = Isa::mul(out.scale[i], Isa::broadcast(0x1.8p23F));
      }
    }
  }
}

/// Codes of k-group kGroup of one vector in the form this tier's dot takes.
template <class Isa, class Format, int kGroup>
[[gnu::always_inline]] inline typename Isa::I dot_codes(const std::uint8_t* block) noexcept {
  const auto codes = group_codes<Isa, Format::kBits, kGroup>(block);
  if constexpr (kIsTable<Format>) {
    if constexpr (Isa::kSignedCodes) {
      return Isa::lookup(kIq4Values, codes);
    } else {
      return Isa::lookup(kIq4Biased, codes);
    }
  } else if constexpr (kDotSigned<Isa, Format>) {
    return Isa::bits_xor(codes, Isa::bytes(0x80));
  } else {
    return codes;
  }
}

template <class Isa>
inline constexpr int kVectorBytes = Isa::kLanes * 4;

/// A chunk's codes, read from the panel and unpacked just before use.
template <class Isa, class Format, int kVecs>
struct PackedCodes {
  const std::uint8_t* first[kVecs];  ///< each vector's rows in the chunk's first block

  [[gnu::always_inline]] void begin_block(int) const noexcept {}
  template <int kGroup>
  [[gnu::always_inline]] typename Isa::I get(int block, int vec) const noexcept {
    return dot_codes<Isa, Format, kGroup>(first[vec] + block * block_code_bytes(Format::kBits));
  }
};

/// How the stream of codes goes on behind a panel's.
struct CodesAhead {
  const std::uint8_t* end;  ///< where the panel's codes end, and
  std::int64_t gap;         ///< how far the next panel's are from there
};

/// The same, read once and in order by whoever has one row only: with prefetching.
template <class Isa, class Format, int kVecs>
struct StreamedCodes : PackedCodes<Isa, Format, kVecs> {
  CodesAhead next;

  /// Called once a block, before its codes are read.
  [[gnu::always_inline]] void begin_block(int block) const noexcept {
    const std::uint8_t* ahead =
        this->first[0] + block * block_code_bytes(Format::kBits) + kPrefetchBytes;
    if (ahead >= next.end) ahead += next.gap;
    for (int i = 0; i < Format::kBits; ++i) prefetch(ahead + i * kGroupBytes);
  }
};

/// The same for a few rows: while a chunk is used, the chunk that comes next is asked for.
template <class Isa, class Format, int kVecs>
struct FollowedCodes : PackedCodes<Isa, Format, kVecs> {
  PackedCodes<Isa, Format, kVecs> next;

  [[gnu::always_inline]] void begin_block(int block) const noexcept {
    // Vectors of one panel share its lines.
    constexpr int kPanelVecs = static_cast<int>(kPanelRows) / Isa::kLanes;
    for (int v = 0; v < kVecs; v += kPanelVecs) {
      const std::uint8_t* ahead = next.first[v] + block * block_code_bytes(Format::kBits);
      for (int i = 0; i < Format::kBits; ++i) prefetch(ahead + i * kGroupBytes);
    }
  }
};

/// A chunk's codes, unpacked by stage_codes: [k-group][vector], kVectorBytes each.
template <class Isa, int kVecs>
struct StagedCodes {
  const std::uint8_t* bytes;

  [[gnu::always_inline]] void begin_block(int) const noexcept {}
  template <int kGroup>
  [[gnu::always_inline]] typename Isa::I get(int block, int vec) const noexcept {
    return Isa::load(bytes + ((block * 8 + kGroup) * kVecs + vec) * kVectorBytes<Isa>);
  }
};

/// Unpacks a chunk's codes for StagedCodes.
template <class Isa, class Format, int kVecs>
[[gnu::noinline]] void stage_codes(const PackedCodes<Isa, Format, kVecs>& codes, int blocks,
                                   std::uint8_t* out) noexcept {
  for (int block = 0; block < blocks; ++block) {
    unroll<8>([&](auto g) __attribute__((always_inline)) {
      for (int v = 0; v < kVecs; ++v) {
        Isa::store(out + ((block * 8 + g) * kVecs + v) * kVectorBytes<Isa>,
                   codes.template get<g>(block, v));
      }
    });
  }
}

/// One chunk of some encoded rows.
struct ActivationChunk {
  const std::uint8_t* codes;   ///< first row's codes at the chunk's first k
  const std::uint8_t* scales;  ///< its float scales
  const std::uint8_t* sums;    ///< its int16 sums
  std::int64_t stride;         ///< bytes from row to row
  int offset;                  ///< kDotOffset of the format
};

/// The integer sum of one weight scale's products in one vector of rows.
template <class Isa, class Kind>
struct ScaleDot {
  typename Isa::I sum;

  /// Adds the scale's k-group kGroup.
  template <int kGroup, class X>
  [[gnu::always_inline]] void add(typename Isa::I codes, X x) noexcept {
    sum = Isa::dot(sum, codes, x);
  }
};

/// Without a byte dot products meet in int16 first.
template <class Isa, class Kind>
requires(!Isa::kByteDot) struct ScaleDot<Isa, Kind> {
  typename Isa::I sum;
  typename Isa::Pairs pairs;

  template <int kGroup, class X>
  [[gnu::always_inline]] void add(typename Isa::I codes, X x) noexcept {
    constexpr int kWiden = Kind::kWidenGroups;
    if constexpr (Kind::kSigned) {
      pairs = Isa::signed_pairs(codes, x);
    } else if constexpr (kGroup % kWiden == 0) {
      pairs = Isa::pairs(codes, x);
    } else {
      pairs = Isa::add_pairs(pairs, codes, x);
    }
    if constexpr (kGroup % kWiden == kWiden - 1 || kGroup == Kind::kScaleValues / 4 - 1) {
      sum = Isa::widen(sum, pairs);
    }
  }
};

/// Adds one chunk to sums[kRows][kVecs][Isa::kLanes].
template <class Isa, class Kind, class Codes, int kVecs, int kRows>
[[gnu::noinline]] void multiply_chunk(const Codes& weights, const VectorScales<Isa, Kind>* scales,
                                      const ActivationChunk& x, int blocks,
                                      float* sums_memory) noexcept {
  using F = typename Isa::F;
  using I = typename Isa::I;
  constexpr int kParts = 32 / Kind::kScaleValues;
  constexpr int kGroups = Kind::kScaleValues / 4;

  alignas(64) std::int32_t starts[kRows][Kind::kHasOffset ? 16 : 1];
  alignas(64) float x_sums[kRows][Kind::kHasAddend ? 16 : 1];
  for (int r = 0; r < kRows; ++r) {
    const auto* sums = reinterpret_cast<const std::int16_t*>(x.sums + r * x.stride);
    if constexpr (Kind::kHasOffset && kParts == 1) Isa::starts_of_32(sums, x.offset, starts[r]);
    if constexpr (Kind::kHasOffset && kParts == 2) Isa::starts_of_16(sums, x.offset, starts[r]);
    if constexpr (Kind::kHasAddend && kParts == 1) Isa::sums_of_32(sums, x_sums[r]);
    if constexpr (Kind::kHasAddend && kParts == 2) Isa::sums_of_16(sums, x_sums[r]);
  }

  F sums[kRows][kVecs];
  unroll<kRows>([&](auto r) __attribute__((always_inline)) {
    unroll<kVecs>([&](auto v) __attribute__((always_inline)) {
      sums[r][v] = Isa::load_f32(sums_memory + (r * kVecs + v) * Isa::kLanes);
    });
  });

  for (int block = 0; block < blocks; ++block) {
    weights.begin_block(block);
    unroll<kParts>([&](auto part) __attribute__((always_inline)) {
      ScaleDot<Isa, Kind> dots[kRows][kVecs];
      unroll<kGroups>([&](auto g) __attribute__((always_inline)) {
        constexpr int kGroup = part * kGroups + g;
        I codes[kVecs];
        unroll<kVecs>([&](auto v) __attribute__((always_inline)) {
          codes[v] = weights.template get<kGroup>(block, v);
        });
        unroll<kRows>([&](auto r) __attribute__((always_inline)) {
          const auto four = Isa::template activations<kGroup>(x.codes + r * x.stride + block * 32);
          unroll<kVecs>([&](auto v) __attribute__((always_inline)) {
            if constexpr (g == 0) {
              if constexpr (Kind::kHasOffset) {
                dots[r][v].sum = Isa::broadcast4(&starts[r][block * kParts + part]);
              } else {
                dots[r][v].sum = Isa::words(Isa::kSumStart);
              }
            }
            dots[r][v].template add<g>(codes[v], four);
          });
        });
      });
      const int at = block * kParts + part;
      unroll<kRows>([&](auto r) __attribute__((always_inline)) {
        float x_scale;
        std::memcpy(&x_scale, x.scales + r * x.stride + block * 4, 4);
        unroll<kVecs>([&](auto v) __attribute__((always_inline)) {
          F value = Isa::scale_sum(dots[r][v].sum, scales[v].scale[at],
                                   scales[v].offset[Isa::kSumStart != 0 ? at : 0]);
          if constexpr (Kind::kHasAddend) {
            value = Isa::fma(scales[v].addend[at], Isa::broadcast(x_sums[r][at]), value);
          }
          sums[r][v] = Isa::fma(Isa::broadcast(x_scale), value, sums[r][v]);
        });
      });
    });
  }

  unroll<kRows>([&](auto r) __attribute__((always_inline)) {
    unroll<kVecs>([&](auto v) __attribute__((always_inline)) {
      Isa::store(sums_memory + (r * kVecs + v) * Isa::kLanes, sums[r][v]);
    });
  });
}

}  // namespace
}  // namespace r1::kernels
