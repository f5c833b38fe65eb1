// Which page holds which tokens behind which other tokens, so that a prompt finds the pages of its
// beginning. Hashes only lead to candidates: what is found has the same token ids, from the first
// of the text on. This is bookkeeping; pages and their holders are the pool's business.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/api/args.hpp"
#include "libr1/runtime/page_lists.hpp"
#include "r1/tokenizer.hpp"

namespace r1::runtime {

/// Where a page's tokens stand.
struct PagePlace {
  PageId parent = kNoPage;      ///< the page before them; kNoPage at the start of a text
  std::uint64_t share_key = 0;  ///< texts of different keys never meet
};

/// A page and how many of its first tokens are those that were looked for.
struct PageMatch {
  PageId page = kNoPage;
  std::int64_t length = 0;
};

/// Published pages. Every publication gets a number that is never used again, and pages name the
/// publication of their parent: when a parent goes, what stood behind it is not found any more,
/// whatever its page is used for next. Not thread-safe.
class PrefixIndex {
 public:
  /// Hashes the tokens and what they stand behind. Equal arguments have to give equal hashes; what
  /// different ones give changes only the speed.
  using Hash = std::uint64_t (*)(std::uint64_t parent, std::uint64_t share_key,
                                 std::span<const TokenId> tokens);
  /// The usual one.
  static std::uint64_t mix(std::uint64_t parent, std::uint64_t share_key,
                           std::span<const TokenId> tokens);

  explicit PrefixIndex(Hash hash = &mix) : hash_(hash) {}

  /// Room for pages below `pages`, which are not fewer than before.
  void resize(std::int64_t pages);
  /// Makes a page that is not known known as holding 1 to kPageTokens `tokens` at `place`. It stays
  /// unknown when the parent is not known, or not full.
  void publish(PageId page, const PagePlace& place, std::span<const TokenId> tokens);
  /// Forgets a page if it is known.
  void erase(PageId page);
  /// Tokens that `page` is known for, 0 to kPageTokens.
  std::int64_t length(PageId page) const { return node(page).length; }

  /// The page that holds exactly these kPageTokens tokens at `place`, or kNoPage.
  PageId find(const PagePlace& place, std::span<const TokenId> tokens) const;
  /// The page whose tokens at `place` agree longest with `tokens` from the first on. Of many that
  /// begin with the same token only the latest publications are looked at.
  PageMatch longest(const PagePlace& place, std::span<const TokenId> tokens) const;
  /// Whether another known page begins with all tokens of this known one, at the same place.
  bool covered(PageId page) const;

 private:
  /// What tokens stand behind: the number of a publication, 0 at the start of a text.
  struct Prefix {
    std::uint64_t parent = 0;
    std::uint64_t share_key = 0;
    bool operator==(const Prefix&) const = default;
  };
  struct Node {
    std::uint64_t number = 0;
    Prefix prefix;
    std::int64_t length = 0;  ///< 0: not published
    std::array<TokenId, kernels::kPageTokens> tokens{};
  };

  Node& node(PageId page) { return nodes_[static_cast<std::size_t>(page)]; }
  const Node& node(PageId page) const { return nodes_[static_cast<std::size_t>(page)]; }
  std::optional<Prefix> prefix_of(const PagePlace& place) const;
  std::size_t bucket(const Prefix& prefix, std::span<const TokenId> tokens) const;
  void enlist(PageId page);
  PageMatch longest(const Prefix& prefix, std::span<const TokenId> tokens, PageId except) const;

  Hash hash_;
  std::uint64_t publications_ = 0;
  std::vector<Node> nodes_;  ///< by page
  std::size_t buckets_ = 0;  ///< of each table, a power of two
  PageLists whole_;          ///< full pages, by all their tokens
  PageLists begins_;         ///< all pages, by their first token
};

}  // namespace r1::runtime
