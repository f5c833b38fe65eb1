// The chain without a full sort. Top-k, top-p and min-p each keep a prefix of the tokens in order
// of falling logit (ties: lower id first), so all that is ever needed is the end of a prefix. Block
// maxima say where the large logits are; a fast sum of all masses, with a bound on its error, says
// how far down to look; when the bound cannot decide, everything is gathered and the answer is
// exact all the same.
#include "libr1/sampling/chain.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "libr1/sampling/exponential.hpp"
#include "libr1/sampling/lanes.hpp"

namespace r1::sampling {
namespace {

constexpr std::size_t kBlock = 256;    // bench/sampler_bench: 128 to 512 are alike
constexpr float kGreedyBelow = 1e-5F;  // include/r1/generation.hpp
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

// How far below the largest logit to look before looking at everything, in temperatures: a sum of
// all masses costs as much as some thousand candidates (bench/sampler_bench).
constexpr double kDepths[] = {9, 14};

// Blocks whose largest logit is this deep are bounded and not summed: 151,936 tokens there have
// less than a millionth of the mass.
constexpr double kDeep = 26;

// Sum of all masses below 2^63, a single mass at most as precise as a double.
constexpr int kTotalBits = 62;
constexpr int kMassBitsMax = 52;

// Finite values stay finite; NaN and the infinities stay what they are, to be reported.
float adjusted(float before, double after) {
  if (!std::isfinite(before)) return before;
  return static_cast<float>(std::clamp(after, -double{kLargest}, double{kLargest}));
}

// -Inf is below every threshold.
float clamped(double threshold) {
  return static_cast<float>(std::max(threshold, -double{kLargest}));
}

// random53 / 2^53 of `mass`, rounded down: below `mass`.
std::uint64_t share(std::uint64_t random53, std::uint64_t mass) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{random53} * mass) >> 53);
}

std::uint64_t part_of(float fraction, std::uint64_t mass) {
  return static_cast<std::uint64_t>(std::ceil(double{fraction} * static_cast<double>(mass)));
}

}  // namespace

Chain::Chain(const Params& params, std::shared_ptr<const std::vector<bool>> samplable)
    : params_(params),
      samplable_(std::move(samplable)),
      candidates_(samplable_->size()),
      random_(params.seed) {
  const std::size_t vocab = samplable_->size();
  for (std::size_t id = 0; id < vocab; ++id) {
    if (!(*samplable_)[id]) continue;
    if (runs_.empty() || runs_.back().end != id) runs_.push_back({id, id});
    runs_.back().end = id + 1;
  }
  const std::size_t blocks = (vocab + kBlock - 1) / kBlock;
  adjusted_.assign(blocks * kBlock, -kInfinity);
  block_max_.resize(blocks);
  scratch_.resize(blocks);
  counts_.assign(vocab, 0);
  const int mass_bits =
      std::min(kMassBitsMax, kTotalBits - static_cast<int>(std::bit_width(vocab)));
  mass_scale_ = std::ldexp(1.0, mass_bits);
  depth_max_ = mass_bits * std::log(2.0) + 1;
}

Choice Chain::choose(std::span<const float> logits, std::span<const TokenId> history,
                     std::span<const std::uint64_t> allowed) {
  copy_samplable(logits);
  if (!allowed.empty()) apply_mask(allowed);
  apply_bias();
  apply_penalties(history);
  if (!find_max()) return {-1, false};
  if (params_.temperature < kGreedyBelow) return {first_of_max(), true};

  const std::uint64_t random53 = random_.next53();
  if (params_.top_k > 0 && static_cast<std::size_t>(params_.top_k) < samplable_->size()) {
    gather_top_k(static_cast<std::size_t>(params_.top_k));
  } else if (params_.top_p >= 1 && params_.min_p > 0) {
    // All that min-p keeps is all that is needed; the little more is for the rounding of the
    // logarithm.
    const double depth = 1e-6 - std::log(double{params_.min_p});
    gather(threshold_at(std::min(depth, depth_max_)));
  } else {
    for (const double depth : kDepths) {
      gather(threshold_at(depth));
      const TokenId id = cut_and_draw(estimate_total(threshold_at(depth)), false, random53);
      if (id >= 0) return {id, true};
    }
    gather(threshold_at(depth_max_));
  }
  const std::uint64_t total = candidates_.mass();
  return {cut_and_draw({total, total}, true, random53), true};
}

void Chain::copy_samplable(std::span<const float> logits) {
  for (const Run& run : runs_) {
    std::copy(logits.begin() + static_cast<std::ptrdiff_t>(run.begin),
              logits.begin() + static_cast<std::ptrdiff_t>(run.end),
              adjusted_.begin() + static_cast<std::ptrdiff_t>(run.begin));
  }
}

// Most words of a mask are all or nothing: within a string nearly every token is allowed, elsewhere
// nearly none.
void Chain::apply_mask(std::span<const std::uint64_t> allowed) {
  constexpr std::size_t kWord = 64;
  for (std::size_t begin = 0; begin < adjusted_.size(); begin += kWord) {
    std::uint64_t word = begin / kWord < allowed.size() ? allowed[begin / kWord] : 0;
    if (word == ~std::uint64_t{0}) continue;
    float* const logits = adjusted_.data() + begin;
    if (word == 0) {
      std::fill_n(logits, kWord, -kInfinity);
      continue;
    }
    for (std::size_t i = 0; i < kWord; ++i, word >>= 1) {
      logits[i] = (word & 1) != 0 ? logits[i] : -kInfinity;
    }
  }
}

void Chain::apply_bias() {
  for (const auto& [id, bias] : params_.logit_bias) {
    float& logit = adjusted_[static_cast<std::size_t>(id)];
    logit = adjusted(logit, double{logit} + double{bias});
  }
}

void Chain::apply_penalties(std::span<const TokenId> history) {
  const bool off = params_.repeat_penalty == 1 && params_.frequency_penalty == 0 &&
                   params_.presence_penalty == 0;
  if (off || params_.repeat_last_n == 0) return;
  const auto window = static_cast<std::size_t>(params_.repeat_last_n);  // -1 becomes the largest
  if (history.size() > window) history = history.last(window);
  const auto known = [&](TokenId id) {
    return id >= 0 && static_cast<std::size_t>(id) < counts_.size();
  };
  for (const TokenId id : history) {
    if (known(id)) ++counts_[static_cast<std::size_t>(id)];
  }
  for (const TokenId id : history) {
    if (!known(id)) continue;
    const std::int32_t count = std::exchange(counts_[static_cast<std::size_t>(id)], 0);
    if (count == 0) continue;  // seen earlier in the window
    float& logit = adjusted_[static_cast<std::size_t>(id)];
    const double repeat = double{params_.repeat_penalty};
    const double scaled = logit > 0 ? double{logit} / repeat : double{logit} * repeat;
    logit = adjusted(logit, scaled - count * double{params_.frequency_penalty} -
                                double{params_.presence_penalty});
  }
}

// False when a logit is NaN or +Inf, or all are -Inf.
bool Chain::find_max() {
  max_ = -kInfinity;
  bool usable = true;
  for (std::size_t block = 0; block < block_max_.size(); ++block) {
    const Maximum maximum = maximum_of(adjusted_.data() + block * kBlock, kBlock);
    usable = usable && maximum.usable;
    block_max_[block] = maximum.value;
    max_ = std::max(max_, maximum.value);
  }
  return usable && max_ > -kInfinity;
}

TokenId Chain::first_of_max() const {
  const auto block = std::find(block_max_.begin(), block_max_.end(), max_) - block_max_.begin();
  const auto begin = adjusted_.begin() + block * static_cast<std::ptrdiff_t>(kBlock);
  return static_cast<TokenId>(std::find(begin, adjusted_.end(), max_) - adjusted_.begin());
}

double Chain::threshold_at(double depth) const {
  return double{max_} - depth * double{params_.temperature};
}

void Chain::gather(double threshold) {
  candidates_.clear();
  const float lowest = clamped(threshold);
  for (std::size_t block = 0; block < block_max_.size(); ++block) {
    if (block_max_[block] < lowest) continue;
    for (std::size_t step = block * kBlock; step < (block + 1) * kBlock; step += kStep) {
      if (!any_at_least(adjusted_.data() + step, lowest)) continue;
      for (std::size_t i = step; i < step + kStep; ++i) {
        if (adjusted_[i] >= lowest) candidates_.add(adjusted_[i], static_cast<TokenId>(i));
      }
    }
  }
  weigh();
}

// In chunks, for exponentials in vectors.
void Chain::weigh() {
  const std::span<Candidate> all = candidates_.added();
  std::array<double, kBlock> values;
  for (std::size_t begin = 0; begin < all.size(); begin += kBlock) {
    const std::span<Candidate> chunk = all.subspan(begin, std::min(kBlock, all.size() - begin));
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      values[i] = (double{chunk[i].logit} - double{max_}) / double{params_.temperature};
    }
    exp_exact_all(values.data(), chunk.size());
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      // By way of the signed type, which has an instruction.
      chunk[i].mass =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i] * mass_scale_));
    }
  }
}

void Chain::gather_top_k(std::size_t k) {
  double threshold = threshold_at(depth_max_);
  if (k <= block_max_.size()) {
    // k blocks reach their maxima, so the k-th largest token is at least the k-th largest maximum.
    std::copy(block_max_.begin(), block_max_.end(), scratch_.begin());
    const auto kth = scratch_.begin() + static_cast<std::ptrdiff_t>(k) - 1;
    std::nth_element(scratch_.begin(), kth, scratch_.end(), std::greater<>());
    threshold = std::max(threshold, double{*kth});
  }
  gather(threshold);
  candidates_.keep_top(k);
}

// The candidates' exact mass and a fast sum of the rest. The rest is a small share, and so is its
// error.
Chain::Total Chain::estimate_total(double threshold) const {
  const float below = clamped(threshold);
  const float scale = 1 / params_.temperature;
  double rest = 0;
  double unseen = 0;
  for (std::size_t block = 0; block < block_max_.size(); ++block) {
    const double depth = (double{block_max_[block]} - double{max_}) / double{params_.temperature};
    if (depth < -kDeep) {
      unseen += kBlock * exp_exact(depth);
    } else {
      rest +=
          exp_sum_fast(std::span(adjusted_).subspan(block * kBlock, kBlock), below, max_, scale);
    }
  }
  // Masses are rounded down, and the sum has tokens that have none: less than one unit each.
  const double slack = 2 * static_cast<double>(adjusted_.size());
  const double low = rest * (1 - kExpSumFastError) * mass_scale_ - slack;
  const double high = (rest * (1 + kExpSumFastError) + unseen) * mass_scale_ + slack;
  const std::uint64_t mass = candidates_.mass();
  return {mass + static_cast<std::uint64_t>(std::max(low, 0.0)),
          mass + static_cast<std::uint64_t>(high)};
}

// The drawn token, or -1 when candidates_ (the tokens above some threshold; `complete`: all that
// have mass) and the bounds of the total cannot tell which it is.
TokenId Chain::cut_and_draw(Total total, bool complete, std::uint64_t random53) {
  // Length of the prefix that holds a mass which lies between the bounds; 0: they differ.
  const auto prefix = [&](std::uint64_t low, std::uint64_t high) {
    const std::size_t longest = candidates_.prefix(high);
    return low == high || candidates_.prefix(low) == longest ? longest : 0;
  };
  bool cut = complete;
  if (params_.top_p < 1) {
    const std::size_t kept =
        prefix(part_of(params_.top_p, total.low), part_of(params_.top_p, total.high));
    if (kept == 0) return -1;
    candidates_.keep_prefix(kept);
    cut = true;
  }
  if (params_.min_p > 0) {
    // When even one that was looked at falls out, none below can be in; else more may be.
    cut = candidates_.keep_heavy(double{params_.min_p} * mass_scale_) || cut;
    if (!cut) return -1;
  }
  if (cut) {  // what is left is all that there is to draw from
    const std::uint64_t mass = candidates_.mass();
    total = {mass, mass};
  }
  const std::size_t drawn = prefix(share(random53, total.low) + 1, share(random53, total.high) + 1);
  return drawn == 0 ? -1 : candidates_.last_of(drawn);
}

}  // namespace r1::sampling
