// The spellings of a vocabulary as trees of bytes, so that what a grammar allows is found by
// walking shared beginnings once. Made once for a tokenizer (about 0.1 s for 151,936 tokens).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "r1/tokenizer.hpp"

namespace r1::text {
class Tokenizer;
}

namespace r1::sampling {

/// One bit a token id, 64 ids a word, lowest bit first.
using TokenMask = std::vector<std::uint64_t>;

/// Immutable, thread-safe.
class TokenTrie {
 public:
  /// Tokens by what they are to a JSON string that they begin in between two characters.
  enum Part : std::uint8_t {
    text,    ///< whole characters that need no escape
    inside,  ///< stay in the string as well: escapes, parts of characters
    other,   ///< end the string, or cannot stand in it
    kParts,
  };

  /// Nodes in preorder: a subtree is a stretch of them.
  struct Node {
    std::uint32_t end;          ///< index of the first node after the subtree
    std::uint32_t first_token;  ///< in tokens(); its own go on to the next node's first
    std::uint16_t depth;        ///< bytes on the way to it, its own included
    std::uint16_t characters;   ///< whole characters on the way
    std::uint8_t byte;          ///< its own
  };

  /// `spellings[id]`: raw bytes; an empty one is never allowed. `ends`: ids that end a generation.
  /// Throws Error{unsupported} when a byte of UTF-8 has no token of its own: then not every text
  /// could be written.
  TokenTrie(std::span<const std::string_view> spellings, std::vector<TokenId> ends);
  /// The normal and byte tokens of a tokenizer; added tokens are never part of an answer in JSON.
  static std::shared_ptr<const TokenTrie> from_tokenizer(const text::Tokenizer& tokenizer);

  /// Ids, allowed or not.
  std::size_t size() const { return starts_.size() - 1; }
  /// Words of a mask.
  std::size_t words() const { return (size() + 63) / 64; }
  /// Empty for ids that are never allowed.
  std::string_view spelling(TokenId id) const;
  const std::vector<TokenId>& ends() const { return ends_; }
  bool is_end(TokenId id) const;

  /// Nodes of a part, without its root; one more after the last, for its first_token.
  std::span<const Node> nodes(Part part) const { return trees_[part].nodes; }
  /// Ids of a part in order of their spellings.
  std::span<const TokenId> tokens(Part part) const { return trees_[part].tokens; }
  /// Characters of text tokens, as tokens(text).
  std::span<const std::uint16_t> characters() const { return characters_; }
  /// The longest way in any part.
  std::size_t depth_max() const { return depth_max_; }

  /// Allows text tokens of at most so many characters.
  void allow_text(std::uint32_t characters_max, TokenMask& mask) const;
  /// Allows all tokens of text and inside.
  void allow_string(TokenMask& mask) const;

 private:
  struct Tree {
    std::vector<Node> nodes;
    std::vector<TokenId> tokens;
  };
  static constexpr std::size_t kShort = 16;  ///< longer tokens are few

  void check_bytes(std::span<const std::string_view> spellings) const;
  void build(Part part, std::vector<TokenId> ids);
  void build_masks();

  std::vector<char> bytes_;            ///< all spellings
  std::vector<std::uint32_t> starts_;  ///< [size + 1] in bytes_
  std::vector<TokenId> ends_;          ///< ascending
  std::array<Tree, kParts> trees_;
  std::vector<std::uint16_t> characters_;
  std::array<TokenMask, kShort + 1> short_text_;  ///< by characters at most
  TokenMask text_mask_;
  TokenMask string_mask_;
  std::vector<std::pair<std::uint16_t, TokenId>> long_text_;  ///< by characters, above kShort
  std::size_t depth_max_ = 0;
};

}  // namespace r1::sampling
