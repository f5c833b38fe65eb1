// A trie with a direct table for first bytes. An Aho-Corasick automaton was considered: it saves
// nothing here, since real spellings start with a byte ('<') that hardly occurs inside them.
#include "libr1/text/added_tokens.hpp"

namespace r1::text {

AddedTokens::AddedTokens() : nodes_(1) {}

std::uint32_t AddedTokens::child_of(std::uint32_t node, unsigned char byte) const noexcept {
  if (node == 0) return first_[byte];
  std::uint32_t child = nodes_[node].child;
  while (child != 0 && nodes_[child].byte != byte) child = nodes_[child].sibling;
  return child;
}

void AddedTokens::add(std::string_view spelling, TokenId id) {
  if (spelling.empty()) return;
  std::uint32_t node = 0;
  for (const char c : spelling) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t child = child_of(node, byte);
    if (child == 0) {
      child = static_cast<std::uint32_t>(nodes_.size());
      Node fresh;
      fresh.byte = byte;
      if (node == 0) {
        first_[byte] = child;
      } else {
        fresh.sibling = nodes_[node].child;
        nodes_[node].child = child;
      }
      nodes_.push_back(fresh);
    }
    node = child;
  }
  if (nodes_[node].id < 0) nodes_[node].id = id;
}

AddedTokens::Match AddedTokens::find(std::string_view text, std::size_t from) const noexcept {
  for (std::size_t begin = from; begin < text.size(); ++begin) {
    Match match;
    std::uint32_t node = first_[static_cast<unsigned char>(text[begin])];
    for (std::size_t end = begin + 1; node != 0; ++end) {
      if (nodes_[node].id >= 0) match = {begin, end, nodes_[node].id};
      if (end == text.size()) break;
      node = child_of(node, static_cast<unsigned char>(text[end]));
    }
    if (match.id >= 0) return match;
  }
  return {text.size(), text.size(), -1};
}

}  // namespace r1::text
