// Finds the normal token of a spelling: the lookups that turn a file's merge rules into ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/text/tokenizer.hpp"

namespace r1::text {

/// An open-addressing hash table of ids: one allocation for a vocabulary, where a map of nodes took
/// twice the time. Views the spellings, which must outlive it. Immutable once made, thread-safe.
class SpellingIndex {
 public:
  /// `kinds`: one a spelling; only normal tokens are found, of equal spellings the first.
  SpellingIndex(std::span<const std::string> spellings, std::span<const TokenKind> kinds);

  /// -1 when there is none.
  TokenId find(std::string_view spelling) const;

 private:
  /// A used slot has an id; the upper half of the hash spares most comparisons of strings.
  struct Slot {
    std::uint32_t upper = 0;
    TokenId id = -1;
  };

  /// The slot that has the spelling, or the free one where it belongs.
  std::size_t slot_of(std::string_view spelling, std::uint32_t upper, std::size_t start) const;

  std::span<const std::string> spellings_;
  std::vector<Slot> slots_;
};

}  // namespace r1::text
