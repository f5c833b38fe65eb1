// Ctrl-C: the first one stops the answer, the second one ends the program.
#pragma once

#include <memory>

#include "r1/engine.hpp"

namespace r1_tools {

/// Owns the handling of SIGINT while it lives; at most one at a time. What Ctrl-C does depends on
/// the phase: ends the program with code 130 at once (the first phase, for loading), stops an
/// answer, or is only counted (at the prompt of a chat).
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// Ctrl-C stops `session`'s answer; another one before end_answer() ends the program.
  void begin_answer(r1::Session& session);
  /// The answer is over: from now on Ctrl-C is only counted.
  void end_answer();
  /// How often Ctrl-C came since the last forget().
  int count() const;
  /// Sets the count to 0.
  void forget();
  /// A descriptor that becomes readable when Ctrl-C is counted; drain() makes it unreadable again.
  int wake_fd() const;
  void drain();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace r1_tools
