// Times the parts of a step by what the forward pass shows a probe on its way.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "libr1/runtime/forward.hpp"
#include "r1/measure.hpp"

namespace r1::engine {

/// Notes when a step's first row reaches each stage. One step at a time.
class StageClock {
 public:
  /// For a model of `layers` layers.
  explicit StageClock(std::int64_t layers);

  /// A step begins now, whose first row with logits is `logit_row`.
  void begin(std::int64_t logit_row);
  /// For Forward::set_probe. One thread computes a row of a stage, and barriers lie between stages.
  void see(runtime::Stage stage, std::int64_t layer, std::int64_t row);
  /// The step, which had logits, is over now; the seconds of its parts.
  StageSeconds end() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kStages = static_cast<std::size_t>(runtime::Stage::output) + 1;

  Clock::time_point at(runtime::Stage stage, std::int64_t layer) const;

  std::int64_t layers_;
  std::int64_t logit_row_ = 0;
  Clock::time_point begin_;
  std::vector<Clock::time_point> seen_;  ///< [layers + 1][kStages]
};

}  // namespace r1::engine
