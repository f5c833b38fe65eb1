// The softmax of attention, span by span: scores of one query vector to weights, and the fold of a
// span's result into those before it. Scores come in units of log 2, so weights are powers of two.
#pragma once

#include <cstdint>

#include "kernels/api/args.hpp"
#include "kernels/generic/float_math.hpp"
#include "kernels/generic/unroll.hpp"

namespace r1::kernels {
namespace {

/// Accumulators of a pass over scores: their chains of operations would limit it.
constexpr int kSoftmaxChains = 2;

/// Replaces the scores of tokens [begin, end) by weights 2^(score - largest). Up to 31 entries
/// around them are overwritten: the range is widened to whole groups of vectors. `factors`, if any,
/// are multiplied into the weights of their tokens, but not into the sum; those around the tokens
/// are read too.
template <class Isa>
inline SoftmaxState soften(float* scores, int begin, int end, const float* factors) noexcept {
  using V = typename Isa::V;
  constexpr int kGroup = kSoftmaxChains * Isa::kWidth;
  const int first = begin / kGroup * kGroup;
  const int last = (end + kGroup - 1) / kGroup * kGroup;
  for (int token = first; token < begin; ++token) scores[token] = -__builtin_inff();
  for (int token = end; token < last; ++token) scores[token] = -__builtin_inff();

  V highest[kSoftmaxChains];
  V sums[kSoftmaxChains];
  unroll<kSoftmaxChains>([&](auto chain) __attribute__((always_inline)) {
    highest[chain] = Isa::broadcast(-__builtin_inff());
    sums[chain] = Isa::broadcast(0.0f);
  });
  for (int token = first; token < last; token += kGroup) {
    unroll<kSoftmaxChains>([&](auto chain) __attribute__((always_inline)) {
      highest[chain] = Isa::max(highest[chain], Isa::load(scores + token + chain * Isa::kWidth));
    });
  }
  const float max = Isa::max_lane(Isa::max(highest[0], highest[1]));
  const V shift = Isa::broadcast(max);
  for (int token = first; token < last; token += kGroup) {
    unroll<kSoftmaxChains>([&](auto chain) __attribute__((always_inline)) {
      float* const p = scores + token + chain * Isa::kWidth;
      const V weight = exp2_nonpositive<Isa>(Isa::load(p) - shift);
      Isa::store(p, factors == nullptr ? weight
                                       : weight * Isa::load(factors + token + chain * Isa::kWidth));
      sums[chain] = sums[chain] + weight;
    });
  }
  return {max, Isa::sum(sums[0] + sums[1])};
}

/// Folds a later span's weighted sum of V into `out`, and its state into `state`.
template <class Isa>
inline void fold(SoftmaxState& state, float* out, const SoftmaxState& span, const float* span_out,
                 std::int64_t head_dim) noexcept {
  if (state.sum == 0.0f) {
    state = span;
    for (std::int64_t d = 0; d < head_dim; d += Isa::kWidth) {
      Isa::store(out + d, Isa::load(span_out + d));
    }
    return;
  }
  const float max = state.max < span.max ? span.max : state.max;
  alignas(64) float factors[Isa::kWidth] = {state.max - max, span.max - max};
  Isa::store(factors, exp2_nonpositive<Isa>(Isa::load(factors)));
  const auto before = Isa::broadcast(factors[0]);
  const auto now = Isa::broadcast(factors[1]);
  state = {max, state.sum * factors[0] + span.sum * factors[1]};
  for (std::int64_t d = 0; d < head_dim; d += Isa::kWidth) {
    Isa::store(out + d, Isa::fma(Isa::load(span_out + d), now, Isa::load(out + d) * before));
  }
}

/// out / sum, once all spans are folded in.
template <class Isa>
inline void normalize(const SoftmaxState& state, float* out, std::int64_t head_dim) noexcept {
  const auto total = Isa::broadcast(state.sum);
  for (std::int64_t d = 0; d < head_dim; d += Isa::kWidth) {
    Isa::store(out + d, Isa::load(out + d) / total);
  }
}

}  // namespace
}  // namespace r1::kernels
