// Where the time of one generation went.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "r1/generation.hpp"

namespace r1::engine {

using Clock = std::chrono::steady_clock;

/// Told of a generation's events in their order; fills Timings at its end. Not thread-safe.
/// Allocates at construction only, up to `tokens` expected ones.
class Ledger {
 public:
  /// `start`: when the caller gave the prompt. Template and tokenizer are through now.
  Ledger(Clock::time_point start, std::int64_t tokens);

  /// Its first step is about to be computed.
  void begin();
  /// A step of `ms` computed `rows` rows of it. Those before the first token are its prefill.
  void computed(std::int64_t rows, double ms);
  /// A token was chosen, which took `sampling_ms`.
  void chosen(double sampling_ms);
  /// The chosen token, or a forced one, belongs to the thought or to the answer.
  void took(bool thought) { ++(thought ? thought_tokens_ : answer_tokens_); }
  /// Pages that the generation held.
  void held(std::int64_t pages) { pages_ = pages > pages_ ? pages : pages_; }
  bool any_chosen() const { return !times_.empty(); }
  /// All fields, at the end.
  Timings timings();

 private:
  Clock::time_point start_, submitted_, begin_;
  bool begun_ = false;
  double prefill_ms_ = 0;
  std::int64_t prefilled_ = 0;
  double sampling_ms_ = 0;
  std::int64_t thought_tokens_ = 0;
  std::int64_t answer_tokens_ = 0;
  std::int64_t pages_ = 0;
  std::vector<Clock::time_point> times_;  ///< of chosen tokens
};

}  // namespace r1::engine
