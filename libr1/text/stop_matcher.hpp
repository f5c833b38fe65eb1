// Stop strings over a stream of text (case G6).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace r1::text {

/// Holds back only a tail that is a proper prefix of some stop string, and cuts before the first
/// stop string that completes (the earliest start wins). Not thread-safe.
class StopMatcher {
 public:
  /// Throws Error{invalid_argument} for an empty string.
  explicit StopMatcher(std::vector<std::string> stops = {});
  /// Text that is certain to come before any stop. After a stop: empty.
  std::string feed(std::string_view text);
  /// The tail held back, at the end of the answer. Resets.
  std::string finish();
  /// True once a stop string was seen.
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string tail_;
  bool stopped_ = false;
};

}  // namespace r1::text
