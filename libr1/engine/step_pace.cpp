// Two running means and a mean deviation, with samples that cannot throw them far off.
#include "libr1/engine/step_pace.hpp"

#include <algorithm>
#include <cmath>

namespace r1::engine {
namespace {

// RFC 6298, section 2: gains of mean and deviation, and how many deviations are added.
constexpr double kMeanGain = 1.0 / 8;
constexpr double kDeviationGain = 1.0 / 4;
constexpr double kDeviations = 4;
// A process that was stopped for a minute must not look like a slow machine.
constexpr double kLargestRise = 4;
// A step's own noise, divided by few rows, is large; weights go by its variance.
constexpr double kTellingRows = 16;
// Rows beside a slow decode step would look free without this.
constexpr double kLeastShare = 0.25;
// A guess for a machine that is not known yet: about 0.1 s at 300 tokens/s.
constexpr std::int64_t kFirstRows = 32;
constexpr double kRowsMax = 1e9;

}  // namespace

void StepPace::learn(std::int64_t decode_rows, std::int64_t prefill_rows, double seconds) {
  if (!(seconds > 0) || decode_rows + prefill_rows == 0) return;
  if (prefill_rows == 0) {
    if (step_s_ == 0) step_s_ = seconds;
    step_s_ += kMeanGain * (std::min(seconds, kLargestRise * step_s_) - step_s_);
    return;
  }
  const auto rows = static_cast<double>(prefill_rows);
  const double sample = std::max(seconds - step_s_, kLeastShare * seconds) / rows;
  if (row_s_ == 0) {
    row_s_ = sample;
    row_deviation_s_ = sample / 2;
    return;
  }
  const double error = std::min(sample, kLargestRise * row_s_) - row_s_;
  const double weight = std::min(1.0, rows * rows / (kTellingRows * kTellingRows));
  row_deviation_s_ += weight * kDeviationGain * (std::abs(error) - row_deviation_s_);
  row_s_ += weight * kMeanGain * error;
}

std::int64_t StepPace::prefill_rows_within(double seconds) const {
  if (row_s_ == 0) return kFirstRows;
  const double rows = seconds / (row_s_ + kDeviations * row_deviation_s_);
  return static_cast<std::int64_t>(std::clamp(rows, 1.0, kRowsMax));
}

}  // namespace r1::engine
