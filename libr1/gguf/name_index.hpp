// Finds a name's position in a list and tells duplicates. Sorted, not hashed: a file chooses its
// names and could choose colliding ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace r1::gguf {

/// Immutable once built. Views the names, which must outlive it and stay where they are.
class NameIndex {
 public:
  NameIndex() = default;
  /// `names` in the order of their positions.
  explicit NameIndex(const std::vector<std::string_view>& names) {
    sorted_.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) sorted_.emplace_back(names[i], i);
    std::sort(sorted_.begin(), sorted_.end());
  }

  /// Positions of two equal names (the smaller first), or nothing when all differ.
  std::optional<std::pair<std::size_t, std::size_t>> duplicate() const {
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    const auto at = std::adjacent_find(sorted_.begin(), sorted_.end(), same);
    if (at == sorted_.end()) return std::nullopt;
    return std::pair(at->second, std::next(at)->second);
  }

  /// Position of `name`, or nothing.
  std::optional<std::size_t> find(std::string_view name) const {
    const auto at =
        std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(name, std::size_t{0}));
    if (at == sorted_.end() || at->first != name) return std::nullopt;
    return at->second;
  }

 private:
  std::vector<std::pair<std::string_view, std::size_t>> sorted_;
};

}  // namespace r1::gguf
