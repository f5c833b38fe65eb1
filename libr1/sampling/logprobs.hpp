// Log-probabilities of generated tokens and of those that were most likely (case G7).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "r1/generation.hpp"

namespace r1::sampling {

/// The most that GenerationOptions::top_logprobs may ask for.
inline constexpr int kTopLogprobsMax = 20;

/// One sequence's log-probabilities. Allocates at construction only. Not thread-safe.
class Logprobs {
 public:
  /// `samplable` as Chain has it: other ids have no part in the softmax. Throws
  /// Error{invalid_argument} unless `top` is 0 to kTopLogprobsMax.
  Logprobs(int top, std::shared_ptr<const std::vector<bool>> samplable);

  /// Of the model's distribution: log-softmax of `logits` ([vocab], raw, none NaN or +Inf), in
  /// double. `chosen` is a samplable id. Valid until the next call. The sum over all ids of
  /// e^logprob is 1 within 1e-9, and no value is above 0.
  const TokenLogprob& of(std::span<const float> logits, TokenId chosen);

 private:
  struct Run {
    std::size_t begin;
    std::size_t end;
  };

  void find_top(std::span<const float> logits);
  double log_sum(std::span<const float> logits, double max) const;

  std::size_t top_;
  std::vector<Run> runs_;  ///< of samplable ids
  TokenLogprob result_;
};

}  // namespace r1::sampling
