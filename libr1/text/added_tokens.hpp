// Finds added tokens in text that the chat template wrote.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1::text {

/// A set of spellings. Immutable once filled, thread-safe then.
class AddedTokens {
 public:
  /// One spelling found in a text.
  struct Match {
    std::size_t begin = 0;  ///< byte offset
    std::size_t end = 0;    ///< byte offset after it
    TokenId id = -1;        ///< -1: nothing found, begin and end are the text's size
  };

  AddedTokens();

  /// Adds a spelling; of equal spellings the first holds. Empty ones are ignored.
  void add(std::string_view spelling, TokenId id);

  /// The leftmost match at or after byte `from`, of those that start there the longest, as Hugging
  /// Face's library takes them. A pass over a text takes at most text bytes x longest spelling
  /// steps, and about one step a byte for text in which few bytes can start a spelling. Constant
  /// stack.
  Match find(std::string_view text, std::size_t from) const noexcept;

 private:
  /// A node of the trie; children form a list. 0 (the root) means none.
  struct Node {
    std::uint32_t child = 0;
    std::uint32_t sibling = 0;
    TokenId id = -1;
    unsigned char byte = 0;
  };

  std::uint32_t child_of(std::uint32_t node, unsigned char byte) const noexcept;

  std::vector<Node> nodes_;
  std::array<std::uint32_t, 256> first_{};  ///< children of the root by byte
};

}  // namespace r1::text
