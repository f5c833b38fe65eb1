// One line of what r1-bench reports: a measurement under its conditions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace r1_tools {

/// A measurement. What does not apply is 0 or empty.
struct Row {
  std::string test;   ///< "prefill", "decode", "attention", "load" and so on; docs/bench.md
  std::string model;  ///< name of the model
  std::string type;   ///< its weight type
  std::string isa;
  int threads = 0;
  std::int64_t n_prompt = 0;       ///< prompt tokens; 0 in rows of decode
  std::int64_t n_gen = 0;          ///< tokens of each sequence; 0 in rows of prefill
  std::int64_t depth = 0;          ///< tokens before those
  std::int64_t batch = 0;          ///< sequences at once
  double tokens_per_s_median = 0;  ///< of all sequences together
  double tokens_per_s_p5 = 0;      ///< one sample in twenty is slower
  double tokens_per_s_p95 = 0;     ///< one in twenty is faster
  double limit_share = 0;          ///< of what this machine can do, 0..1
  double value = 0;                ///< the measurement itself, in `unit`
  std::string unit;                ///< "token/s", "s", "B", "B/s", "MAC/s"
};

/// Fills median, 5th and 95th percentile from samples in tokens/s (not empty), and value and unit.
void set_speed(Row& row, std::vector<double> tokens_per_s);

}  // namespace r1_tools
