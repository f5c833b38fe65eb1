// Built breadth first from the sorted literals: a node is a range of them that share a prefix.
#include "libr1/text/json/literal_trie.hpp"

#include <algorithm>
#include <numeric>

namespace r1::text::json {

LiteralTrie::LiteralTrie(const std::vector<std::string>& literals) {
  if (literals.empty()) return;
  sorted_.resize(literals.size());
  std::iota(sorted_.begin(), sorted_.end(), 0U);
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return literals[a] < literals[b]; });
  const auto same = [&](std::uint32_t a, std::uint32_t b) { return literals[a] == literals[b]; };
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), same), sorted_.end());

  nodes_.push_back({0, static_cast<std::uint32_t>(sorted_.size())});
  std::vector<std::uint32_t> depths = {0};
  for (std::uint32_t place = 0; place < nodes_.size(); ++place) {
    const std::uint32_t depth = depths[place];
    std::uint32_t begin = nodes_[place].begin;
    const std::uint32_t end = nodes_[place].end;
    // Of literals with one prefix, the prefix itself sorts first.
    if (literals[sorted_[begin]].size() == depth) nodes_[place].literal = sorted_[begin++];
    nodes_[place].first_child = static_cast<std::uint32_t>(nodes_.size());
    while (begin < end) {
      const auto byte = static_cast<std::uint8_t>(literals[sorted_[begin]][depth]);
      std::uint32_t stop = begin;
      while (stop < end && static_cast<std::uint8_t>(literals[sorted_[stop]][depth]) == byte) {
        ++stop;
      }
      nodes_.push_back({begin, stop, kNone, 0, 0, byte});
      depths.push_back(depth + 1);
      ++nodes_[place].child_count;
      begin = stop;
    }
  }
}

std::uint32_t LiteralTrie::next(std::uint32_t place, std::uint8_t byte) const {
  if (place >= nodes_.size()) return kNone;
  const auto first = nodes_.begin() + nodes_[place].first_child;
  const auto last = first + nodes_[place].child_count;
  const auto found = std::lower_bound(
      first, last, byte, [](const Node& node, std::uint8_t value) { return node.byte < value; });
  if (found == last || found->byte != byte) return kNone;
  return static_cast<std::uint32_t>(found - nodes_.begin());
}

bool LiteralTrie::contains(std::string_view literal) const {
  std::uint32_t place = 0;
  for (const char byte : literal) place = next(place, static_cast<std::uint8_t>(byte));
  return literal_at(place) != kNone;
}

}  // namespace r1::text::json
