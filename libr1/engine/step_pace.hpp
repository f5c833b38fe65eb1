// How fast steps go, learnt from the steps that ran. It holds the prefill chunk beside running
// streams to a time; it is no model of the machine (that is step_cost).
#pragma once

#include <cstdint>

namespace r1::engine {

/// Mean and mean deviation of what a prefill row adds to a step, estimated as TCP estimates its
/// round-trip time (RFC 6298). Depth, threads and other load change slowly from step to step, so
/// the estimate follows them without knowing them. Not thread-safe.
class StepPace {
 public:
  /// A step with these rows took `seconds`.
  void learn(std::int64_t decode_rows, std::int64_t prefill_rows, double seconds);
  /// Seconds that a prefill row adds to a step, on average; 0 before the first.
  double prefill_row_s() const { return row_s_; }
  /// Prefill rows that very likely add at most `seconds` to a step, at least 1; a small number
  /// before anything is known.
  std::int64_t prefill_rows_within(double seconds) const;

 private:
  double step_s_ = 0;  ///< a step that only decodes; 0: none seen
  double row_s_ = 0;
  double row_deviation_s_ = 0;
};

}  // namespace r1::engine
