// A set of byte strings as a tree of bytes: the values of an enum, the keys of an object.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r1::text::json {

/// Immutable once made, thread-safe. Places are numbers of tree nodes; 0 is the empty prefix.
class LiteralTrie {
 public:
  /// No place, no literal.
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  LiteralTrie() = default;
  /// Literals keep their index in `literals`; of equal ones the first counts.
  explicit LiteralTrie(const std::vector<std::string>& literals);

  bool empty() const { return nodes_.empty(); }
  /// The place one byte on, or kNone. `place` may be kNone.
  std::uint32_t next(std::uint32_t place, std::uint8_t byte) const;
  /// Index of the literal that ends at `place`, or kNone. `place` may be kNone.
  std::uint32_t literal_at(std::uint32_t place) const {
    return place < nodes_.size() ? nodes_[place].literal : kNone;
  }
  bool contains(std::string_view literal) const;
  /// True when nothing goes on from `place`.
  bool is_leaf(std::uint32_t place) const { return nodes_[place].child_count == 0; }
  /// Indices of all literals that go through `place`, in order of bytes.
  std::span<const std::uint32_t> literals_under(std::uint32_t place) const {
    return std::span(sorted_).subspan(nodes_[place].begin, nodes_[place].end - nodes_[place].begin);
  }

 private:
  struct Node {
    std::uint32_t begin;  ///< its literals in sorted_
    std::uint32_t end;
    std::uint32_t literal = kNone;
    std::uint32_t first_child = 0;  ///< children stand side by side, in order of bytes
    std::uint16_t child_count = 0;
    std::uint8_t byte = 0;  ///< that leads to it
  };

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> sorted_;
};

}  // namespace r1::text::json
