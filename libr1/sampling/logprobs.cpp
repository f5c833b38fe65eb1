// Two passes: the largest logits by insertion into a short list, then the sum of exponentials.
#include "libr1/sampling/logprobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "libr1/sampling/exponential.hpp"
#include "r1/error.hpp"

namespace r1::sampling {
namespace {

constexpr std::size_t kChunk = 256;
constexpr double kDeep =
    -700;  // exp_exact_all()'s bound; below it nothing shows in a sum from 1 on

}  // namespace

Logprobs::Logprobs(int top, std::shared_ptr<const std::vector<bool>> samplable)
    : top_(static_cast<std::size_t>(top)) {
  if (top < 0 || top > kTopLogprobsMax) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("top_logprobs: expected -1 (off) or a number from 0 to {}, got {}",
                            kTopLogprobsMax, top));
  }
  for (std::size_t id = 0; id < samplable->size(); ++id) {
    if (!(*samplable)[id]) continue;
    if (runs_.empty() || runs_.back().end != id) runs_.push_back({id, id});
    runs_.back().end = id + 1;
  }
  result_.top.reserve(top_ + 1);
}

const TokenLogprob& Logprobs::of(std::span<const float> logits, TokenId chosen) {
  find_top(logits);
  const double max = result_.top.front().second;
  const double total = log_sum(logits, max);
  // The sum has the largest term, 1, but its logarithm is rounded.
  const auto logprob = [&](double logit) { return std::min(0.0, (logit - max) - total); };
  result_.id = chosen;
  result_.logprob = logprob(double{logits[static_cast<std::size_t>(chosen)]});
  if (result_.top.size() > top_) result_.top.pop_back();
  for (auto& [id, value] : result_.top) value = logprob(value);
  return result_;
}

// One at least, for the maximum.
void Logprobs::find_top(std::span<const float> logits) {
  const std::size_t wanted = std::max<std::size_t>(top_, 1);
  auto& top = result_.top;
  top.clear();
  for (const Run& run : runs_) {
    for (std::size_t id = run.begin; id < run.end; ++id) {
      const double logit = double{logits[id]};
      if (top.size() == wanted && !(logit > top.back().second)) continue;
      if (top.size() == wanted) top.pop_back();
      // Ids come in order, so that of equals the lower one is there already.
      const auto place = std::find_if(top.begin(), top.end(),
                                      [&](const auto& entry) { return logit > entry.second; });
      top.insert(place, {static_cast<TokenId>(id), logit});
    }
  }
}

// ln of the sum of e^(logit - max).
double Logprobs::log_sum(std::span<const float> logits, double max) const {
  double sum = 0;
  std::array<double, kChunk> values;
  for (const Run& run : runs_) {
    for (std::size_t begin = run.begin; begin < run.end; begin += kChunk) {
      const std::size_t count = std::min(kChunk, run.end - begin);
      for (std::size_t i = 0; i < count; ++i) {
        values[i] = std::max(kDeep, double{logits[begin + i]} - max);
      }
      exp_exact_all(values.data(), count);
      for (std::size_t i = 0; i < count; ++i) sum += values[i];
    }
  }
  return std::log(sum);
}

}  // namespace r1::sampling
