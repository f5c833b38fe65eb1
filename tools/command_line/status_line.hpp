// A line on the terminal that says how far a long step is, and goes away without a trace.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace r1_tools {

/// Progress on standard error. Shown only once a step has taken half a second, so that short ones
/// do not flicker. Thread-safe.
class StatusLine {
 public:
  /// `enabled`: standard error is a terminal that can erase a line.
  explicit StatusLine(bool enabled) : enabled_(enabled) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { clear(); }

  /// A new step begins now.
  void begin(std::string_view label);
  /// The step is at `fraction`, 0..1.
  void progress(double fraction);
  /// The step goes on, without a known end.
  void tick();
  /// Takes the line off the screen until the next change; text may be written now.
  void hide();
  /// Ends the step and takes the line off the screen. Text may be written afterwards.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  /// True when it is time to draw. Needs the lock.
  bool is_due(Clock::time_point now);
  void draw(std::string_view text);
  void erase();

  std::mutex mutex_;
  bool enabled_;
  bool visible_ = false;
  std::string label_;
  Clock::time_point begin_;
  Clock::time_point drawn_;
};

}  // namespace r1_tools
