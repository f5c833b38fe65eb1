// Chooses the next token from logits: bias, penalties, temperature, top-k, top-p, min-p, draw.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libr1/sampling/candidates.hpp"
#include "libr1/sampling/random.hpp"
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

/// Checks every field and makes Params; empty fields take Params' defaults, an empty seed is drawn
/// from the system. Throws Error{invalid_argument} naming the field, its range and the value (cases
/// G1, G2).
Params make_params(const SamplingOptions& options, std::int64_t vocab_size);

/// What a draw gave.
struct Choice {
  TokenId id = -1;
  bool finite = true;  ///< false: a logit was NaN or +Inf, or none was above -Inf; id is then -1
};

/// One sequence's sampler. Allocates at construction only. Not thread-safe.
///
/// Logits stay float after bias and after penalties. A token's mass is e^((logit - max) /
/// temperature) as a whole number of 2^-s of the largest (s = 44 for 151,936 tokens), so sums are
/// exact in any order and draws are the same on every machine; a token below 2^-s of the largest is
/// never drawn. One random number is used for each token that is not greedy.
class Chain {
 public:
  /// `samplable[id]` is false for ids that may never be chosen (padding rows, unused ids).
  Chain(const Params& params, std::shared_ptr<const std::vector<bool>> samplable);

  /// `logits`: [vocab], unchanged. `history`: prompt and generated ids so far, for the penalties.
  /// `allowed`: one bit an id, 64 ids a word, lowest bit first; ids without a bit are left out
  /// before all else, and so are those past its end. Empty: all. When nothing is left the choice is
  /// not finite.
  Choice choose(std::span<const float> logits, std::span<const TokenId> history,
                std::span<const std::uint64_t> allowed = {});
  const Params& params() const { return params_; }

 private:
  /// Ids [begin, end) that may be chosen.
  struct Run {
    std::size_t begin;
    std::size_t end;
  };
  /// What the mass of all tokens lies between.
  struct Total {
    std::uint64_t low;
    std::uint64_t high;
  };

  void copy_samplable(std::span<const float> logits);
  void apply_mask(std::span<const std::uint64_t> allowed);
  void apply_bias();
  void apply_penalties(std::span<const TokenId> history);
  bool find_max();
  TokenId first_of_max() const;
  double threshold_at(double depth) const;
  void gather(double threshold);
  void gather_top_k(std::size_t k);
  void weigh();
  Total estimate_total(double threshold) const;
  TokenId cut_and_draw(Total total, bool complete, std::uint64_t random53);

  Params params_;
  std::shared_ptr<const std::vector<bool>> samplable_;
  std::vector<Run> runs_;             ///< of samplable_
  std::vector<float> adjusted_;       ///< logits after bias and penalties; -Inf where not samplable
  std::vector<float> block_max_;      ///< largest of each block of adjusted_
  std::vector<float> scratch_;        ///< as many as block_max_
  Candidates candidates_;             ///< the tokens above some threshold
  std::vector<std::int32_t> counts_;  ///< occurrences of each id in the penalty window
  float max_ = 0;
  double mass_scale_ = 0;  ///< 2^s
  double depth_max_ =
      0;  ///< tokens whose logit is this many temperatures below the largest have no mass
  Random random_;
};

}  // namespace r1::sampling
