// Percentiles are of the gaps between chosen tokens, by the nearest-rank method.
#include "libr1/engine/ledger.hpp"

#include <algorithm>
#include <cmath>

namespace r1::engine {
namespace {

double ms_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// The smallest of `sorted` that at least `share` of them do not exceed.
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

Ledger::Ledger(Clock::time_point start, std::int64_t tokens)
    : start_(start), submitted_(Clock::now()) {
  times_.reserve(static_cast<std::size_t>(tokens));
}

void Ledger::begin() {
  if (!begun_) begin_ = Clock::now();
  begun_ = true;
}

void Ledger::computed(std::int64_t rows, double ms) {
  if (any_chosen()) return;
  prefill_ms_ += ms;
  prefilled_ += rows;
}

void Ledger::chosen(double sampling_ms) {
  times_.push_back(Clock::now());
  sampling_ms_ += sampling_ms;
}

Timings Ledger::timings() {
  Timings timings;
  timings.total_ms = ms_between(start_, Clock::now());
  timings.prompt_ms = ms_between(start_, submitted_);
  if (begun_) timings.queued_ms = ms_between(submitted_, begin_);
  timings.prefill_ms = prefill_ms_;
  timings.prefill_tokens = prefilled_;
  if (prefill_ms_ > 0) {
    timings.prefill_tokens_per_s = static_cast<double>(prefilled_) * 1000 / prefill_ms_;
  }
  timings.thought_tokens = thought_tokens_;
  timings.answer_tokens = answer_tokens_;
  timings.sampling_ms = sampling_ms_;
  timings.kv_pages = pages_;
  if (times_.empty()) return timings;
  timings.ttft_ms = ms_between(start_, times_.front());
  timings.decode_ms = ms_between(times_.front(), times_.back());
  if (timings.decode_ms > 0) {
    timings.decode_tokens_per_s =
        static_cast<double>(thought_tokens_ + answer_tokens_ - 1) * 1000 / timings.decode_ms;
  }
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times_.size(); ++i) {
    gaps.push_back(ms_between(times_[i - 1], times_[i]));
  }
  if (gaps.empty()) return timings;
  std::sort(gaps.begin(), gaps.end());
  timings.gap_p50_ms = percentile(gaps, 0.50);
  timings.gap_p95_ms = percentile(gaps, 0.95);
  timings.gap_p99_ms = percentile(gaps, 0.99);
  timings.gap_max_ms = gaps.back();
  return timings;
}

}  // namespace r1::engine
