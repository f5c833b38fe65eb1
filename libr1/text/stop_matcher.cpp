// The automaton knows, after each byte, the longest tail that may still become a stop string: its
// depth is what must be held back. The only other thing held is the head of a character that such a
// tail cuts through.
#include "libr1/text/stop_matcher.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "r1/error.hpp"

namespace r1::text {
namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::size_t length_of_lead(char byte) {
  const auto lead = static_cast<unsigned char>(byte);
  return lead >= 0xF0 && lead <= 0xF4  ? 4
         : lead >= 0xE0 && lead < 0xF0 ? 3
         : lead >= 0xC2 && lead < 0xE0 ? 2
                                       : 1;
}

// The last place not after `at` that does not cut a character, a character cut off at the end
// included.
std::size_t whole_characters(std::string_view text, std::size_t at) {
  if (at < text.size() && !is_continuation(text[at])) return at;
  for (std::size_t back = 1; back <= std::min<std::size_t>(at, 3); ++back) {
    const char byte = text[at - back];
    if (is_continuation(byte)) continue;
    return length_of_lead(byte) > back ? at - back : at;
  }
  return at;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops) : nodes_(1) {
  std::size_t bytes = 0;
  for (const std::string& stop : stops) {
    if (stop.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  "stop: expected strings of at least one byte, got an empty one");
    }
    bytes += stop.size();
  }
  if (bytes >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::invalid_argument, "stop: expected less than 4 GiB in all, got more");
  }
  for (const std::string& stop : stops) insert(stop);
  link();
}

void StopMatcher::insert(std::string_view stop) {
  std::uint32_t node = 0;
  for (const char byte : stop) {
    std::uint32_t next = child(node, byte);
    if (next == 0) {
      next = static_cast<std::uint32_t>(nodes_.size());
      Node added;
      added.byte = byte;
      added.depth = nodes_[node].depth + 1;
      if (node == 0) {
        root_children_[static_cast<unsigned char>(byte)] = next;
      } else {
        added.next_sibling = nodes_[node].first_child;
        nodes_[node].first_child = next;
      }
      nodes_.push_back(added);
    }
    node = next;
  }
  nodes_[node].match = nodes_[node].depth;
}

// Breadth first: the fallback of a node is shorter, so it is complete when it is needed.
void StopMatcher::link() {
  std::vector<std::uint32_t> queue;
  queue.reserve(nodes_.size());
  for (const std::uint32_t node : root_children_) {
    if (node != 0) queue.push_back(node);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t parent = queue[i];
    for (std::uint32_t node = nodes_[parent].first_child; node != 0;
         node = nodes_[node].next_sibling) {
      nodes_[node].fallback = step(nodes_[parent].fallback, nodes_[node].byte);
      if (nodes_[node].match == 0) nodes_[node].match = nodes_[nodes_[node].fallback].match;
      queue.push_back(node);
    }
  }
}

std::uint32_t StopMatcher::child(std::uint32_t node, char byte) const {
  if (node == 0) return root_children_[static_cast<unsigned char>(byte)];
  std::uint32_t next = nodes_[node].first_child;
  while (next != 0 && nodes_[next].byte != byte) next = nodes_[next].next_sibling;
  return next;
}

std::uint32_t StopMatcher::step(std::uint32_t node, char byte) const {
  for (;;) {
    const std::uint32_t next = child(node, byte);
    if (next != 0 || node == 0) return next;
    node = nodes_[node].fallback;
  }
}

std::string StopMatcher::feed(std::string_view text) {
  if (stopped_) return {};
  const std::size_t held = tail_.size();
  tail_ += text;
  for (std::size_t at = held; at < tail_.size(); ++at) {
    state_ = step(state_, tail_[at]);
    if (nodes_[state_].match == 0) continue;
    stopped_ = true;
    std::string out = tail_.substr(0, whole_characters(tail_, at + 1 - nodes_[state_].match));
    tail_.clear();
    return out;
  }
  const std::size_t cut = whole_characters(tail_, tail_.size() - nodes_[state_].depth);
  std::string out = tail_.substr(0, cut);
  tail_.erase(0, cut);
  return out;
}

std::string StopMatcher::finish() {
  std::string out = std::move(tail_);
  tail_.clear();
  state_ = 0;
  stopped_ = false;
  return out;
}

}  // namespace r1::text
