// Attention over KV pages, written once as a template over a tier's FloatIsa: online softmax in
// float32, in blocks of four pages at absolute positions. A query vector (one row, one head) goes
// through the same operations on the same operands in whatever tile it happens to be, so its bits
// depend on its own position and window only. K and V of positions that a row does not see are
// never part of its arithmetic: scores are replaced, not multiplied by zero, and V rows are left
// out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/api/args.hpp"
#include "kernels/generic/attention_tile.hpp"
#include "kernels/generic/float_math.hpp"
#include "kernels/generic/unroll.hpp"

namespace r1::kernels {
namespace {

/// One rescaling of the output and one horizontal maximum a block: with single pages they cost as
/// much as the products of 64-wide heads.
constexpr int kBlockPages = 4;
constexpr int kBlockTokens = kBlockPages * kUnitColumns;
/// Query vectors that share a block's conversion to float32.
constexpr int kTileVectors = 48;
constexpr int kMaxHeadDim = 256;

static_assert(kUnitColumns == kPageTokens);

/// The running softmax of a tile's query vectors. The weighted sum of V itself lives in `out`.
template <class Isa>
struct AttentionState {
  const float* q[kTileVectors];
  const float* bias_q[kTileVectors];
  float* out[kTileVectors];
  alignas(64) float max[kTileVectors];
  alignas(64) float rescale[kTileVectors];
  /// The sum of weights, lane by lane; lanes are added up at the end.
  alignas(64) float sum[kTileVectors][Isa::kWidth];
  alignas(64) float weights[kTileVectors][kBlockTokens];
};

/// Tokens [begin, end) of a block, counted from its first position, as a range of query vectors
/// sees them.
struct BlockRange {
  std::int64_t block;
  int begin;
  int end;
  int first_vector;
  int vector_count;

  int first_page() const { return begin / kUnitColumns; }
  int last_page() const { return (end - 1) / kUnitColumns; }
};

/// K or V of a block's pages, as stored or as float32.
template <class Element>
struct BlockPages {
  const Element* page[kBlockPages] = {};
  /// What to ask into the cache while reading `page`: the same page of the next block, or, at the
  /// end, the page itself.
  const Element* ahead[kBlockPages] = {};
};

/// Whether the products prefetch while they read: yes when they read the cache's own f16, so when
/// few vectors share each load and memory is what limits; converted blocks were prefetched when
/// converted.
template <class Element>
constexpr bool kPrefetchAhead = sizeof(Element) != sizeof(float);

/// Cuts the range's vectors into the fewest subtiles of at most kTileRows, about equally high, and
/// calls f(std::integral_constant rows, first vector) for each.
template <class Isa, class F>
inline void for_each_subtile(const BlockRange& range, F&& f) noexcept {
  int left = range.vector_count;
  int parts = (left + Isa::kTileRows - 1) / Isa::kTileRows;
  for (int vector = range.first_vector; left > 0; --parts) {
    const int rows = (left + parts - 1) / parts;
    with_constant<Isa::kTileRows>(rows, [&](auto constant_rows) { f(constant_rows, vector); });
    vector += rows;
    left -= rows;
  }
}

/// weights = q K^T of one subtile for kUnits pages from `page` on.
template <class Isa, int kRows, int kUnits, class Element>
inline void score_pages(AttentionState<Isa>& state, int vector, const BlockPages<Element>& k,
                        int page, std::int64_t head_dim) noexcept {
  AttentionTile<Isa, kRows, kUnits> tile;
  const float* q[kRows];
  unroll<kRows>([&](auto row) { q[row] = state.q[vector + row]; });
  const Element* units[kUnits];
  const Element* ahead[kUnits];
  unroll<kUnits>([&](auto u) {
    units[u] = k.page[page + u];
    ahead[u] = k.ahead[page + u];
  });
  tile.clear();
  tile.template accumulate<kPrefetchAhead<Element>>(
      head_dim, kUnitColumns, [&](auto row) __attribute__((always_inline)) { return q[row]; },
      [&](auto u) __attribute__((always_inline)) { return units[u]; },
      [&](auto u) __attribute__((always_inline)) { return ahead[u]; });
  float* weights = state.weights[vector] + page * kUnitColumns;
  tile.each([&](auto row, auto column, auto sum) __attribute__((always_inline)) {
    Isa::store(weights + row * kBlockTokens + column, sum);
  });
}

/// Scores of all the range's vectors.
template <class Isa, class Element>
void score_block(AttentionState<Isa>& state, const BlockRange& range, const BlockPages<Element>& k,
                 std::int64_t head_dim) noexcept {
  for_each_subtile<Isa>(range, [&](auto rows, int vector) {
    int page = range.first_page();
    for (; page + Isa::kTileUnits - 1 <= range.last_page(); page += Isa::kTileUnits) {
      score_pages<Isa, rows, Isa::kTileUnits>(state, vector, k, page, head_dim);
    }
    for (; page <= range.last_page(); ++page) {
      score_pages<Isa, rows, 1>(state, vector, k, page, head_dim);
    }
  });
}

/// Scores to softmax weights for one vector: bias terms, scale, mask, new maximum, exponentials.
template <class Isa>
inline void soften_vector(const AttentionArgs& args, AttentionState<Isa>& state,
                          const BlockRange& range, int vector) noexcept {
  using V = typename Isa::V;
  const V lowest = Isa::broadcast(-__builtin_inff());
  const V scale = Isa::broadcast(args.scale);
  const int begin = range.first_page() * kUnitColumns;
  const int end = (range.last_page() + 1) * kUnitColumns;
  float* weights = state.weights[vector];

  V highest = lowest;
  for (int token = begin; token < end; token += Isa::kWidth) {
    V score = Isa::load(weights + token);
    for (std::int64_t term = 0; term < args.bias_terms; ++term) {
      const float* table = args.bias_tables[term] + range.block * kBlockTokens;
      score = Isa::fma(Isa::broadcast(state.bias_q[vector][term]), Isa::load(table + token), score);
    }
    score = Isa::keep_lanes(score * scale, range.begin - token, range.end - token, lowest);
    Isa::store(weights + token, score);
    highest = Isa::max(highest, score);
  }

  const float old_max = state.max[vector];
  const float new_max = std::max(old_max, Isa::max_lane(highest));
  state.max[vector] = new_max;
  alignas(64) float change[Isa::kWidth] = {old_max - new_max};
  const V rescale = exp_nonpositive<Isa>(Isa::load(change));
  Isa::store(change, rescale);
  state.rescale[vector] = change[0];

  const V shift = Isa::broadcast(new_max);
  V sum = Isa::load(state.sum[vector]) * Isa::broadcast(change[0]);
  for (int token = begin; token < end; token += Isa::kWidth) {
    const V weight = exp_nonpositive<Isa>(Isa::load(weights + token) - shift);
    Isa::store(weights + token, weight);
    sum = sum + weight;
  }
  Isa::store(state.sum[vector], sum);
}

/// out = out * rescale + weights V for one subtile and kUnits units of the head from `column` on.
template <class Isa, int kRows, int kUnits, class Element>
inline void add_columns(AttentionState<Isa>& state, const BlockRange& range, int vector,
                        const BlockPages<Element>& v, std::int64_t column,
                        std::int64_t head_dim) noexcept {
  AttentionTile<Isa, kRows, kUnits> tile;
  tile.each([&](auto row, auto offset, auto& sum) __attribute__((always_inline)) {
    sum = Isa::load(state.out[vector + row] + column + offset) *
          Isa::broadcast(state.rescale[vector + row]);
  });
  for (int page = range.first_page(); page <= range.last_page(); ++page) {
    const int token = std::max(range.begin, page * kUnitColumns);
    const int end = std::min(range.end, (page + 1) * kUnitColumns);
    const float* weights = state.weights[vector] + token;
    const std::int64_t offset = (token - page * kUnitColumns) * head_dim + column;
    const Element* rows = v.page[page] + offset;
    const Element* ahead = v.ahead[page] + offset;
    tile.template accumulate<kPrefetchAhead<Element>>(
        end - token, head_dim,
        [&](auto row) __attribute__((always_inline)) { return weights + row * kBlockTokens; },
        [&](auto u) __attribute__((always_inline)) { return rows + u * kUnitColumns; },
        [&](auto u) __attribute__((always_inline)) { return ahead + u * kUnitColumns; });
  }
  tile.each([&](auto row, auto offset, auto sum) __attribute__((always_inline)) {
    Isa::store(state.out[vector + row] + column + offset, sum);
  });
}

/// Adds the block's V to the output of all the range's vectors.
template <class Isa, class Element>
void add_block(AttentionState<Isa>& state, const BlockRange& range, const BlockPages<Element>& v,
               std::int64_t head_dim) noexcept {
  for_each_subtile<Isa>(range, [&](auto rows, int vector) {
    std::int64_t column = 0;
    constexpr int kWide = Isa::kTileUnits * kUnitColumns;
    for (; column + kWide <= head_dim; column += kWide) {
      add_columns<Isa, rows, Isa::kTileUnits>(state, range, vector, v, column, head_dim);
    }
    for (; column < head_dim; column += kUnitColumns) {
      add_columns<Isa, rows, 1>(state, range, vector, v, column, head_dim);
    }
  });
}

/// Calls f with the block's K or V pages (`offset` says which): as they are when they are float32
/// or when at most kDirectVectors read them, otherwise converted to float32 once. Conversion is
/// exact, so both ways give the same bits. Only pages of the range are read.
template <class Isa, class Element, class F>
inline void with_block_pages(const AttentionArgs& args, const BlockRange& range,
                             std::int64_t offset, F&& f) noexcept {
  const std::int64_t last = (args.first_position + args.rows - 1) / kPageTokens;
  BlockPages<Element> stored;
  for (int page = range.first_page(); page <= range.last_page(); ++page) {
    const std::int64_t index = range.block * kBlockPages + page;
    const std::int64_t next = index + kBlockPages <= last ? index + kBlockPages : index;
    stored.page[page] = reinterpret_cast<const Element*>(args.pages[index] + offset);
    stored.ahead[page] = reinterpret_cast<const Element*>(args.pages[next] + offset);
  }
  if constexpr (sizeof(Element) != sizeof(float)) {
    if (range.vector_count > Isa::kDirectVectors) {
      alignas(64) float converted[kBlockPages][kUnitColumns * kMaxHeadDim];
      BlockPages<float> views;
      for (int page = range.first_page(); page <= range.last_page(); ++page) {
        const std::int64_t values = kUnitColumns * args.head_dim;
        for (std::int64_t i = 0; i < values; i += Isa::kWidth) {
          __builtin_prefetch(stored.ahead[page] + i);
          Isa::store(converted[page] + i, Isa::load(stored.page[page] + i));
        }
        views.page[page] = converted[page];
      }
      f(views);
      return;
    }
  }
  f(stored);
}

/// One block for vectors that all see the same part of it.
template <class Isa, class Element>
void attend_block(const AttentionArgs& args, AttentionState<Isa>& state,
                  const BlockRange& range) noexcept {
  with_block_pages<Isa, Element>(args, range, args.k_offset, [&](const auto& k) {
    score_block<Isa>(state, range, k, args.head_dim);
  });
  for (int i = 0; i < range.vector_count; ++i) {
    soften_vector<Isa>(args, state, range, range.first_vector + i);
  }
  with_block_pages<Isa, Element>(args, range, args.v_offset, [&](const auto& v) {
    add_block<Isa>(state, range, v, args.head_dim);
  });
}

/// Rows [row, row + rows) and heads [head, head + heads) of the call: at most kTileVectors vectors.
struct AttentionPart {
  std::int64_t row;
  int rows;
  std::int64_t head;
  int heads;
};

template <class Isa>
void start_part(const AttentionArgs& args, const AttentionPart& part,
                AttentionState<Isa>& state) noexcept {
  const auto zero = Isa::broadcast(0.0f);
  int vector = 0;
  for (std::int64_t row = part.row; row < part.row + part.rows; ++row) {
    for (std::int64_t head = part.head; head < part.head + part.heads; ++head, ++vector) {
      state.q[vector] = args.q + row * args.q_stride + head * args.head_dim;
      state.out[vector] = args.out + row * args.out_stride + head * args.head_dim;
      // Not formed from a null bias_q: adding to a null pointer is undefined.
      state.bias_q[vector] =
          args.bias_terms > 0 ? args.bias_q + (row * args.group + head) * args.bias_terms : nullptr;
      state.max[vector] = -__builtin_inff();
      Isa::store(state.sum[vector], zero);
      for (std::int64_t d = 0; d < args.head_dim; d += Isa::kWidth) {
        Isa::store(state.out[vector] + d, zero);
      }
    }
  }
}

template <class Isa, class Element>
void attend_part(const AttentionArgs& args, const AttentionPart& part) noexcept {
  AttentionState<Isa> state;
  start_part(args, part, state);

  const auto position = [&](int row) { return args.first_position + part.row + row; };
  const auto lowest = [&](int row) {
    return args.window > 0 ? std::max<std::int64_t>(0, position(row) - args.window + 1) : 0;
  };
  const int last_row = part.rows - 1;
  const std::int64_t block_end = position(last_row) / kBlockTokens + 1;
  for (std::int64_t block = lowest(0) / kBlockTokens; block < block_end; ++block) {
    const std::int64_t begin = block * kBlockTokens;
    const std::int64_t end = begin + kBlockTokens;
    if (lowest(last_row) <= begin && position(0) >= end - 1) {
      attend_block<Isa, Element>(args, state, {block, 0, kBlockTokens, 0, part.rows * part.heads});
      continue;
    }
    for (int row = 0; row < part.rows; ++row) {
      const std::int64_t from = std::max(begin, lowest(row));
      const std::int64_t to = std::min(end, position(row) + 1);
      if (from >= to) continue;
      attend_block<Isa, Element>(args, state,
                                 {block, static_cast<int>(from - begin),
                                  static_cast<int>(to - begin), row * part.heads, part.heads});
    }
  }

  for (int vector = 0; vector < part.rows * part.heads; ++vector) {
    const auto total = Isa::broadcast(Isa::sum(Isa::load(state.sum[vector])));
    for (std::int64_t d = 0; d < args.head_dim; d += Isa::kWidth) {
      Isa::store(state.out[vector] + d, Isa::load(state.out[vector] + d) / total);
    }
  }
}

/// See AttentionFn; Element is float or std::uint16_t (f16 bits). About 100 KB of stack.
template <class Isa, class Element>
void attention(const AttentionArgs& args) noexcept {
  const std::int64_t heads_max = std::min<std::int64_t>(args.group, kTileVectors);
  for (std::int64_t head = 0; head < args.group; head += heads_max) {
    const std::int64_t heads = std::min(heads_max, args.group - head);
    const std::int64_t rows_max = kTileVectors / heads;
    for (std::int64_t row = 0; row < args.rows; row += rows_max) {
      const std::int64_t rows = std::min(rows_max, args.rows - row);
      attend_part<Isa, Element>(args, {row, static_cast<int>(rows), head, static_cast<int>(heads)});
    }
  }
}

}  // namespace
}  // namespace r1::kernels
