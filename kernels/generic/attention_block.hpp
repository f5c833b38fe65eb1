// The two products of attention over one block of a span: scores from K, and the weighted sum of V.
// Pages are read as they are stored, with a prefetch of the block after, when few query vectors
// share the reading and memory is what limits; otherwise a block is converted once to float32
// units that stay in the cache. Conversion is exact, so both ways give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/args.hpp"
#include "kernels/generic/attention_tile.hpp"
#include "kernels/generic/float_math.hpp"
#include "kernels/generic/kv_element.hpp"
#include "kernels/generic/unroll.hpp"

namespace r1::kernels {
namespace {

/// Pages of a block: what is converted at once.
constexpr int kBlockPages = 4;
constexpr int kBlockTokens = kBlockPages * kUnitColumns;
constexpr int kSpanPages = kSpanTokens / kPageTokens;
/// Query vectors that share a block's conversion to float32.
constexpr int kTileVectors = 96;
constexpr int kMaxBiasTerms = 16;
/// Floats from vector to vector of the weights: not a multiple of 4 KiB, which would put all rows
/// of a tile into the same sets of the cache.
constexpr int kWeightStride = kSpanTokens + kUnitColumns;

static_assert(kUnitColumns == kPageTokens && kSpanTokens % kBlockTokens == 0);

/// What a call works in, by query vector: args.scratch.
struct AttentionWork {
  alignas(64) float q[kTileVectors][kMaxHeadDim];  ///< times scale and log2 e
  alignas(64) float bias_q[kTileVectors][kMaxBiasTerms];
  alignas(64) float weights[kTileVectors][kWeightStride];  ///< of the span; first its scores
  alignas(64) float out[kTileVectors][kMaxHeadDim];        ///< of the span
  alignas(64) float converted[kBlockTokens * kMaxHeadDim];
  alignas(64) float v_scales[kSpanTokens];
  SoftmaxState span_state[kTileVectors];
  SoftmaxState state[kTileVectors];  ///< of the spans folded so far
};
static_assert(sizeof(AttentionWork) <= kAttentionScratchBytes);

/// Tokens [begin, end) of a span, all in one block, and the vectors that attend to them.
struct AttentionBlock {
  std::int64_t span;
  int begin;
  int end;
  int first_vector;
  int vector_count;

  int first_page() const { return begin / kUnitColumns; }
  int last_page() const { return (end - 1) / kUnitColumns; }
};

/// The pages of a span by their number in it. Those past the last page stand for that one: there
/// may be nothing else that can be read.
template <class Element>
class SpanPages {
 public:
  /// `end`: one past the last page of the sequence that may be touched.
  SpanPages(const AttentionArgs& args, std::int64_t span, std::int64_t end) noexcept
      : args_(args), first_(span * kSpanPages), last_(end - 1) {}

  const Element* k(int page) const noexcept { return at(page, args_.k_offset); }
  const Element* v(int page) const noexcept { return at(page, args_.v_offset); }
  /// The page that is read one block later: K, then the same span's V, then the next span's K.
  const Element* after_k(int page) const noexcept {
    const int next = page + kBlockPages;
    return next < kSpanPages && first_ + next <= last_ ? k(next) : v(page % kBlockPages);
  }
  const Element* after_v(int page) const noexcept {
    const int next = page + kBlockPages;
    return next < kSpanPages ? v(next) : k(next);
  }
  /// Absolute position of the page's first token.
  std::int64_t position(int page) const noexcept { return number(page) * kPageTokens; }

 private:
  std::int64_t number(int page) const noexcept {
    return first_ + page < last_ ? first_ + page : last_;
  }
  const Element* at(int page, std::int64_t offset) const noexcept {
    return reinterpret_cast<const Element*>(args_.pages[number(page)] + offset);
  }

  const AttentionArgs& args_;
  std::int64_t first_;
  std::int64_t last_;
};

/// Whether a block is converted before it is used.
template <class Isa, class Element>
inline bool is_converted(const AttentionBlock& block) noexcept {
  return kIsNarrow<Element> && block.vector_count > Isa::kDirectVectors;
}

/// Cuts the block's vectors into the fewest subtiles of at most kTileRows, about equally high, and
/// calls f(std::integral_constant rows, first vector) for each.
template <class Isa, class F>
inline void for_each_subtile(const AttentionBlock& block, F&& f) noexcept {
  int left = block.vector_count;
  int parts = (left + Isa::kTileRows - 1) / Isa::kTileRows;
  for (int vector = block.first_vector; left > 0; --parts) {
    const int rows = (left + parts - 1) / parts;
    with_constant<Isa::kTileRows>(rows, [&](auto constant_rows) { f(constant_rows, vector); });
    vector += rows;
    left -= rows;
  }
}

/// Scores of the block's vectors for kTileUnits pages from `page` on: q K^T, then the bias terms.
/// `units` are the pages; where they are float32, they were fetched when they were converted.
/// Scales of the cache come after q K^T, so that codes converted before and now give the same bits.
template <class Isa, class Element, class Stored>
inline void score_pages(const AttentionArgs& args, AttentionWork& work, const AttentionBlock& block,
                        const SpanPages<Stored>& pages, int page,
                        const Element* const* units) noexcept {
  constexpr int kUnits = Isa::kTileUnits;
  static_assert(kUnitColumns % kUnits == 0);
  const Stored* ahead[kUnits];
  std::int64_t positions[kUnits];
  const std::uint16_t* scales[kUnits] = {};
  for (int u = 0; u < kUnits; ++u) {
    ahead[u] = pages.after_k(page + u);
    positions[u] = pages.position(page + u);
    if constexpr (kHasScales<Stored>) {
      scales[u] = kv_scales(pages.k(page + u), args.head_dim);
      prefetch(kv_scales(ahead[u], args.head_dim));
      prefetch(kv_scales(pages.v(page + u), args.head_dim));
    }
  }
  for_each_subtile<Isa>(block, [&](auto rows, int vector) {
    AttentionTile<Isa, rows, kUnits> tile;
    tile.clear();
    // In as many parts as there are pages, each of which prefetches one.
    const std::int64_t count = args.head_dim / kUnits;
    unroll<kUnits>([&](auto part) __attribute__((always_inline)) {
      tile.template accumulate<kMaxHeadDim, kIsNarrow<Element>>(
          count, kUnitColumns, work.q[vector] + part * count,
          [&](auto u)
              __attribute__((always_inline)) { return units[u] + part * count * kUnitColumns; },
          ahead[part]);
    });
    if constexpr (kHasScales<Stored>) {
      tile.multiply([&](auto u) __attribute__((always_inline)) { return scales[u]; });
    }
    for (std::int64_t term = 0; term < args.bias_terms; ++term) {
      const float* const table = args.bias_tables[term];
      tile.template add<kMaxBiasTerms>(
          work.bias_q[vector] + term, [&](auto u) __attribute__((always_inline)) {
            return table + positions[u];
          });
    }
    float* const scores = work.weights[vector] + page * kUnitColumns;
    tile.each([&](auto row, auto column, auto sum) __attribute__((always_inline)) {
      Isa::store(scores + row * kWeightStride + column, sum);
    });
  });
}

/// Scores of all the block's vectors into the weights.
template <class Isa, class Element>
inline void score_block(const AttentionArgs& args, AttentionWork& work, const AttentionBlock& block,
                        const SpanPages<Element>& pages) noexcept {
  constexpr int kUnits = Isa::kTileUnits;
  for (int page = block.first_page() / kUnits * kUnits; page <= block.last_page(); page += kUnits) {
    if (!is_converted<Isa, Element>(block)) {
      const Element* units[kUnits];
      for (int u = 0; u < kUnits; ++u) units[u] = pages.k(page + u);
      score_pages<Isa>(args, work, block, pages, page, units);
      continue;
    }
    const float* units[kUnits];
    for (int u = 0; u < kUnits; ++u) {
      const Element* const from = pages.k(page + u);
      const Element* const ahead = pages.after_k(page + u);
      float* const to = work.converted + u * kUnitColumns * args.head_dim;
      constexpr int kLine = kLineElements<Element>;
      for (std::int64_t line = 0; line < kUnitColumns * args.head_dim; line += kLine) {
        prefetch(ahead + line);
        unroll<kLine / Isa::kWidth>([&](auto i) __attribute__((always_inline)) {
          const std::int64_t at = line + i * Isa::kWidth;
          Isa::store(to + at, Isa::load(from + at));
        });
      }
      units[u] = to;
    }
    score_pages<Isa>(args, work, block, pages, page, units);
  }
}

/// Scales of V of a span's pages [first, last].
template <class Isa>
inline void load_v_scales(const AttentionArgs& args, AttentionWork& work,
                          const SpanPages<std::int8_t>& pages, int first, int last) noexcept {
  for (int page = first; page <= last; ++page) {
    const std::uint16_t* const scales = kv_scales(pages.v(page), args.head_dim);
    for (int part = 0; part < kUnitColumns; part += Isa::kWidth) {
      Isa::store(work.v_scales + page * kUnitColumns + part, Isa::load(scales + part));
    }
  }
}

/// V of a block as the cache stores it: a page is [token][dim].
template <class Element>
struct StoredValues {
  static constexpr int kTokens = kPageTokens;
  static constexpr bool kPrefetch = kIsNarrow<Element>;
  const SpanPages<Element>& pages;
  std::int64_t stride;

  const Element* at(int token, std::int64_t column) const noexcept {
    return pages.v(token / kTokens) + token % kTokens * stride + column;
  }
  /// What to prefetch: all passes over the columns together ask for the whole page in order.
  const Element* after(int token, std::int64_t column, int units) const noexcept {
    return pages.after_v(token / kTokens) + column * kTokens +
           token % kTokens * units * kUnitColumns;
  }
};

/// V of a block as float32: [unit][token of the block][16 columns], so that a tile reads in order.
struct ConvertedValues {
  static constexpr int kTokens = kBlockTokens;
  static constexpr bool kPrefetch = false;
  const float* values;
  static constexpr std::int64_t stride = kUnitColumns;

  const float* at(int token, std::int64_t column) const noexcept {
    return values + column * kBlockTokens + token % kBlockTokens * kUnitColumns;
  }
  const float* after(int, std::int64_t, int) const noexcept { return nullptr; }
};

/// out += weights V for the block's vectors and kUnits units of the head from `column` on.
template <class Isa, int kUnits, class Values>
inline void add_columns(AttentionWork& work, const AttentionBlock& block, const Values& values,
                        std::int64_t column) noexcept {
  for_each_subtile<Isa>(block, [&](auto rows, int vector) {
    AttentionTile<Isa, rows, kUnits> tile;
    float* const out = work.out[vector] + column;
    tile.each([&](auto row, auto offset, auto& sum) __attribute__((always_inline)) {
      sum = Isa::load(out + row * kMaxHeadDim + offset);
    });
    for (int token = block.begin; token < block.end;) {
      const int whole = (token / Values::kTokens + 1) * Values::kTokens;
      const int end = whole < block.end ? whole : block.end;
      const auto* const first = values.at(token, column);
      const std::int64_t unit_stride = values.at(token, column + kUnitColumns) - first;
      tile.template accumulate<kWeightStride, Values::kPrefetch>(
          end - token, values.stride, work.weights[vector] + token,
          [&](auto u) __attribute__((always_inline)) { return first + u * unit_stride; },
          values.after(token, column, kUnits));
      token = end;
    }
    tile.each([&](auto row, auto offset, auto sum) __attribute__((always_inline)) {
      Isa::store(out + row * kMaxHeadDim + offset, sum);
    });
  });
}

/// The same for the whole head.
template <class Isa, class Values>
inline void add_values(const AttentionArgs& args, AttentionWork& work, const AttentionBlock& block,
                       const Values& values) noexcept {
  constexpr std::int64_t kWide = Isa::kTileUnits * kUnitColumns;
  std::int64_t column = 0;
  for (; column + kWide <= args.head_dim; column += kWide) {
    add_columns<Isa, Isa::kTileUnits>(work, block, values, column);
  }
  for (; column < args.head_dim; column += kUnitColumns) {
    add_columns<Isa, 1>(work, block, values, column);
  }
}

/// Adds the block's V to the output of all its vectors, converting it first where that pays.
template <class Isa, class Element>
inline void add_block(const AttentionArgs& args, AttentionWork& work, const AttentionBlock& block,
                      const SpanPages<Element>& pages) noexcept {
  if (!is_converted<Isa, Element>(block)) {
    add_values<Isa>(args, work, block, StoredValues<Element>{pages, args.head_dim});
    return;
  }
  const ConvertedValues converted{work.converted};
  for (int token = block.begin; token < block.end; ++token) {
    const StoredValues<Element> stored{pages, args.head_dim};
    const Element* const from = stored.at(token, 0);
    const Element* const ahead =
        pages.after_v(token / kPageTokens) + (from - pages.v(token / kPageTokens));
    for (std::int64_t d = 0; d < args.head_dim; d += kUnitColumns) {
      float* const to = work.converted + (converted.at(token, d) - converted.values);
      if (d % kLineElements<Element> == 0) prefetch(ahead + d);
      for (int part = 0; part < kUnitColumns; part += Isa::kWidth) {
        Isa::store(to + part, Isa::load(from + d + part));
      }
    }
  }
  add_values<Isa>(args, work, block, converted);
}

}  // namespace
}  // namespace r1::kernels
