// Chooses the next token from logits: bias, penalties, temperature, top-k, top-p, min-p, draw.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "r1/generation.hpp"

namespace r1::sampling {

/// SamplingOptions with every field given.
struct Params {
  float temperature = 0;
  std::int64_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float repeat_penalty = 1;
  float frequency_penalty = 0;
  float presence_penalty = 0;
  std::int64_t repeat_last_n = 64;
  std::uint64_t seed = 0;
  std::vector<std::pair<TokenId, float>> logit_bias;
};

/// Checks every field and makes Params; empty fields take Params' defaults, an empty seed is drawn from the
/// system. Throws Error{invalid_argument} naming the field, its range and the value (cases G1, G2).
Params make_params(const SamplingOptions& options, std::int64_t vocab_size);

/// What a draw gave.
struct Choice {
  TokenId id = -1;
  bool finite = true;  ///< false: a logit was NaN or +Inf, or all were -Inf; id is then -1
};

/// One sequence's sampler. Allocates at construction only. Not thread-safe.
class Chain {
 public:
  /// `samplable[id]` is false for ids that may never be chosen (padding rows, unused ids).
  Chain(const Params& params, std::shared_ptr<const std::vector<bool>> samplable);

  /// `logits`: [vocab], unchanged. `history`: prompt and generated ids so far, for the penalties.
  Choice choose(std::span<const float> logits, std::span<const TokenId> history);
  const Params& params() const { return params_; }

 private:
  struct Candidate {
    float logit;
    TokenId id;
  };
  Params params_;
  std::shared_ptr<const std::vector<bool>> samplable_;
  std::vector<Candidate> candidates_;
  std::vector<std::int32_t> counts_;  ///< occurrences of each id in the penalty window
  std::uint64_t rng_[4];
};

}  // namespace r1::sampling
