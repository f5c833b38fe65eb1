// Stop strings over a stream of text (case G6).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace r1::text {

/// Holds back only a tail that is a proper prefix of some stop string, and cuts before the first
/// stop string that completes (the earliest start wins among those that complete with the same
/// byte). Works on bytes, but what comes out is cut only between whole UTF-8 characters: a stop
/// string that starts inside a character cuts before it. Linear in the text whatever the stop
/// strings; the same result for every way to cut the text into pieces. Not thread-safe.
class StopMatcher {
 public:
  /// Throws Error{invalid_argument} for an empty string.
  explicit StopMatcher(std::vector<std::string> stops = {});
  /// Text that is certain to come before any stop. After a stop: empty.
  std::string feed(std::string_view text);
  /// The tail held back, at the end of the answer; empty after a stop. Resets, stopped() too.
  std::string finish();
  /// True once a stop string was seen.
  bool stopped() const { return stopped_; }

 private:
  /// A node of the trie of all stop strings (Aho and Corasick, CACM 1975). Node 0 is the root; 0 as
  /// an index of a child or a sibling means none.
  struct Node {
    std::uint32_t first_child = 0;
    std::uint32_t next_sibling = 0;
    std::uint32_t fallback = 0;  ///< node of the longest proper suffix that is in the trie
    std::uint32_t depth = 0;
    std::uint32_t match = 0;  ///< length of the longest stop string that ends here; 0: none
    char byte = 0;
  };
  void insert(std::string_view stop);
  void link();
  std::uint32_t child(std::uint32_t node, char byte) const;
  std::uint32_t step(std::uint32_t node, char byte) const;

  std::vector<Node> nodes_;
  std::array<std::uint32_t, 256> root_children_{};
  std::uint32_t state_ = 0;
  std::string tail_;  ///< text not given out yet
  bool stopped_ = false;
};

}  // namespace r1::text
