// Byte-pair encoding of one word: the rules and the merging.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1::text {

/// One rule: the neighbours `left` and `right` become `result`.
struct BpeMerge {
  TokenId left;    ///< id of the left part
  TokenId right;   ///< id of the right part
  TokenId result;  ///< id of the token spelled left + right
};

/// A byte-pair encoder. Immutable once made, thread-safe.
class Bpe {
 public:
  /// Buffers that encode() reuses from word to word. One a thread.
  class Scratch {
   private:
    friend class Bpe;
    struct Symbol {
      std::uint32_t previous;
      std::uint32_t next;
      TokenId id;  ///< -1 once merged into the symbol before it
    };
    std::vector<Symbol> symbols;
    std::vector<std::uint64_t> heap;  ///< rank << 32 | index of the left symbol, lowest on top
  };

  /// No word may be longer: positions are 32-bit.
  static constexpr std::size_t kWordBytesMax = 0x7FFFFFFF;

  /// `byte_ids`: the token of each byte, -1 where there is none. `merges`: in the order of their
  /// rank; when a pair occurs twice the later rank holds, as in Hugging Face's library.
  Bpe(const std::array<TokenId, 256>& byte_ids, std::vector<BpeMerge> merges);

  /// Appends the ids of `word`: of all pairs the one with the lowest rank merges first, the
  /// leftmost of equal ones. Bytes without a token are left out. O(n log n) time, constant stack.
  /// Precondition: word.size()
  /// <= kWordBytesMax.
  void encode(std::string_view word, Scratch& scratch, std::vector<TokenId>& out) const;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  /// Slot of an open-addressing hash table over pairs.
  struct Slot {
    std::uint64_t pair = ~std::uint64_t{0};
    std::uint32_t rank = kNone;
  };

  std::size_t slot_of(std::uint64_t pair) const;
  std::uint32_t rank_of(TokenId left, TokenId right) const;
  void push_pair(Scratch& scratch, std::uint32_t left) const;

  std::array<TokenId, 256> byte_ids_;
  std::vector<BpeMerge> merges_;
  std::vector<Slot> slots_;
};

}  // namespace r1::text
