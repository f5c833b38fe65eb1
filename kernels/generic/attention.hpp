// Attention over KV pages, written once as a template over a tier's FloatIsa: softmax in float32,
// span by span at absolute positions. A query vector (one row, one head) goes through the same
// operations on the same operands in whatever tile it happens to be and whoever computes its spans,
// so its bits depend on its own position and window only. K and V of positions that a row does not
// see are never part of its arithmetic: scores are replaced, not multiplied by zero, and V rows are
// left out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/args.hpp"
#include "kernels/generic/attention_block.hpp"
#include "kernels/generic/attention_softmax.hpp"

namespace r1::kernels {
namespace {

/// Rows [row, row + rows) and heads [head, head + heads) of the call: at most kTileVectors vectors.
struct AttentionPart {
  std::int64_t row;
  int rows;
  std::int64_t head;
  int heads;
};

/// One part of a call, span after span.
template <class Isa, class Element>
class AttentionRun {
 public:
  AttentionRun(const AttentionArgs& args, const AttentionPart& part) noexcept
      : args_(args), part_(part), work_(*reinterpret_cast<AttentionWork*>(args.scratch)) {
    load_queries();
  }

  /// All spans that the rows see, folded and normalised.
  void attend_all() noexcept {
    for (int vector = 0; vector < vectors(); ++vector) work_.state[vector] = {};
    const std::int64_t last = position(part_.rows - 1) / kSpanTokens;
    for (std::int64_t span = lowest(0) / kSpanTokens; span <= last; ++span) {
      attend_span(span, [&](int vector, const SoftmaxState& state) {
        fold<Isa>(work_.state[vector], out(vector), state, work_.out[vector], args_.head_dim);
      });
    }
    for (int vector = 0; vector < vectors(); ++vector) {
      normalize<Isa>(work_.state[vector], out(vector), args_.head_dim);
    }
  }

  /// The spans of args, each by itself, for a later fold.
  void attend_each() noexcept {
    for (std::int64_t span = args_.span_begin; span < args_.span_end; ++span) {
      const std::int64_t first = (span - args_.span_begin) * args_.rows * args_.group;
      const auto index = [&](int vector) {
        return first + (part_.row + vector / part_.heads) * args_.group + part_.head +
               vector % part_.heads;
      };
      for (int vector = 0; vector < vectors(); ++vector) args_.states[index(vector)] = {};
      attend_span(span, [&](int vector, const SoftmaxState& state) {
        float* const part = args_.out + index(vector) * args_.head_dim;
        fold<Isa>(args_.states[index(vector)], part, state, work_.out[vector], args_.head_dim);
      });
    }
  }

 private:
  /// Tokens [begin, end) of a span.
  struct Tokens {
    int begin;
    int end;
  };

  int vectors() const noexcept { return part_.rows * part_.heads; }
  std::int64_t position(int row) const noexcept { return args_.first_position + part_.row + row; }
  std::int64_t lowest(int row) const noexcept {
    const std::int64_t first = position(row) - args_.window + 1;
    return args_.window > 0 && first > 0 ? first : 0;
  }
  float* out(int vector) const noexcept {
    return args_.out + (part_.row + vector / part_.heads) * args_.out_stride +
           (part_.head + vector % part_.heads) * args_.head_dim;
  }

  // Queries and bias terms scaled, so that scores come out in units of log 2.
  void load_queries() noexcept {
    constexpr float kLog2E = 1.44269504088896341f;
    const float scale = args_.scale * kLog2E;
    for (int vector = 0; vector < vectors(); ++vector) {
      const std::int64_t row = part_.row + vector / part_.heads;
      const std::int64_t head = part_.head + vector % part_.heads;
      const float* q = args_.q + row * args_.q_stride + head * args_.head_dim;
      for (std::int64_t d = 0; d < args_.head_dim; d += Isa::kWidth) {
        Isa::store(work_.q[vector] + d, Isa::load(q + d) * Isa::broadcast(scale));
      }
      for (std::int64_t term = 0; term < args_.bias_terms; ++term) {
        work_.bias_q[vector][term] =
            args_.bias_q[(row * args_.group + head) * args_.bias_terms + term] * scale;
      }
    }
  }

  // One past the last page to touch, prefetches included: the spans after may be someone else's.
  std::int64_t pages_end() const noexcept {
    const std::int64_t all = position(part_.rows - 1) / kPageTokens + 1;
    const std::int64_t own = args_.span_end * kSpanPages;
    return args_.states != nullptr && own < all ? own : all;
  }

  // What a row sees of a span; begin >= end: nothing.
  Tokens visible(std::int64_t span, int row) const noexcept {
    const std::int64_t begin = lowest(row) - span * kSpanTokens;
    const std::int64_t end = position(row) + 1 - span * kSpanTokens;
    return {static_cast<int>(begin > 0 ? begin : 0),
            static_cast<int>(end < kSpanTokens ? end : kSpanTokens)};
  }

  // f(block) for every block of the span: one for all vectors where all rows see all of it,
  // otherwise one a row.
  template <class F>
  void for_each_block(std::int64_t span, F f) const noexcept {
    const Tokens first = visible(span, 0);
    const Tokens last = visible(span, part_.rows - 1);
    for (int begin = first.begin / kBlockTokens * kBlockTokens; begin < last.end;
         begin += kBlockTokens) {
      const int end = begin + kBlockTokens;
      if (last.begin <= begin && end <= first.end) {
        f(AttentionBlock{span, begin, end, 0, vectors()});
        continue;
      }
      for (int row = 0; row < part_.rows; ++row) {
        const Tokens seen = visible(span, row);
        const int from = seen.begin > begin ? seen.begin : begin;
        const int to = seen.end < end ? seen.end : end;
        if (from < to) f(AttentionBlock{span, from, to, row * part_.heads, part_.heads});
      }
    }
  }

  // Scores, weights and weighted sums of one span; then done(vector, state) for every vector that
  // sees some of it.
  template <class Done>
  void attend_span(std::int64_t span, Done done) noexcept {
    const SpanPages<Element> pages(args_, span, pages_end());
    for_each_block(
        span, [&](const AttentionBlock& block) { score_block<Isa>(args_, work_, block, pages); });
    // A scale of V in the weight is one product a token; on V itself it would be one a channel.
    const float* v_scales = nullptr;
    if constexpr (kHasScales<Element>) {
      load_v_scales<Isa>(args_, work_, pages, visible(span, 0).begin / kUnitColumns,
                         (visible(span, part_.rows - 1).end - 1) / kUnitColumns);
      v_scales = work_.v_scales;
    }
    for (int vector = 0; vector < vectors(); ++vector) {
      const Tokens seen = visible(span, vector / part_.heads);
      if (seen.begin >= seen.end) continue;
      work_.span_state[vector] = soften<Isa>(work_.weights[vector], seen.begin, seen.end, v_scales);
      for (std::int64_t d = 0; d < args_.head_dim; d += Isa::kWidth) {
        Isa::store(work_.out[vector] + d, Isa::broadcast(0.0f));
      }
    }
    for_each_block(
        span, [&](const AttentionBlock& block) { add_block<Isa>(args_, work_, block, pages); });
    for (int vector = 0; vector < vectors(); ++vector) {
      const Tokens seen = visible(span, vector / part_.heads);
      if (seen.begin < seen.end) done(vector, work_.span_state[vector]);
    }
  }

  const AttentionArgs& args_;
  AttentionPart part_;
  AttentionWork& work_;
};

/// See AttentionFn; Element as in kv_element.hpp.
template <class Isa, class Element>
void attention(const AttentionArgs& args) noexcept {
  const std::int64_t heads_max = args.group < kTileVectors ? args.group : kTileVectors;
  for (std::int64_t head = 0; head < args.group; head += heads_max) {
    const std::int64_t heads = args.group - head < heads_max ? args.group - head : heads_max;
    const std::int64_t rows_max = kTileVectors / heads;
    for (std::int64_t row = 0; row < args.rows; row += rows_max) {
      const std::int64_t rows = args.rows - row < rows_max ? args.rows - row : rows_max;
      AttentionRun<Isa, Element> run(args,
                                     {row, static_cast<int>(rows), head, static_cast<int>(heads)});
      if (args.states == nullptr) {
        run.attend_all();
      } else {
        run.attend_each();
      }
    }
  }
}

/// See AttentionFoldArgs.
template <class Isa>
void attention_fold(const AttentionFoldArgs& args) noexcept {
  const std::int64_t vectors = args.rows * args.group;
  for (std::int64_t vector = 0; vector < vectors; ++vector) {
    float* const out =
        args.out + vector / args.group * args.out_stride + vector % args.group * args.head_dim;
    SoftmaxState state{};
    for (std::int64_t i = vector; i < args.spans * vectors; i += vectors) {
      if (args.states[i].sum == 0.0f) continue;
      fold<Isa>(state, out, args.states[i], args.parts + i * args.head_dim, args.head_dim);
    }
    normalize<Isa>(state, out, args.head_dim);
  }
}

}  // namespace
}  // namespace r1::kernels
