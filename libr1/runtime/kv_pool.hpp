// Fixed-size pages of keys and values with counts of their holders. What nobody holds any more
// stays as cache as long as there is room and is found again by its tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "libr1/runtime/kv_layout.hpp"
#include "libr1/runtime/page_slabs.hpp"
#include "libr1/runtime/prefix_index.hpp"

namespace r1::runtime {

/// What a pool may do, beyond its size.
struct KvPoolOptions {
  /// Pages that nobody holds and that are kept nevertheless.
  std::int64_t cached_max = std::numeric_limits<std::int64_t>::max();
  base::Pages memory = base::Pages::advised;  ///< what the pages are to lie on
  PrefixIndex::Hash hash = &PrefixIndex::mix;
};

/// A pool's pages by state, and what sharing gave. free + used + cached = capacity.
struct KvStatistics {
  std::int64_t capacity = 0;       ///< pages there may be
  std::int64_t free = 0;           ///< without content; memory is taken for few of them at first
  std::int64_t used = 0;           ///< held by a sequence or more
  std::int64_t cached = 0;         ///< held by none, of known content; taken when none is free
  std::int64_t shared = 0;         ///< of the used ones: held by two sequences or more
  std::int64_t evicted = 0;        ///< cached pages that were given up, ever
  std::int64_t tokens_reused = 0;  ///< tokens of prompts that did not have to be computed, ever
  std::int64_t bytes_saved = 0;    ///< that the sequences would take more now if they shared none
};

/// Owns the pages. Each page has holders, KvSequences, and may be published: known by its tokens.
/// The tokens of a published page never change; its only holder may publish more of them. Pages are
/// evicted in the order in which they lost their last holder. Thread-safe; what is in a page is the
/// business of whoever may write it.
class KvPool {
 public:
  /// At most `pages` pages; no memory is taken yet.
  KvPool(const KvLayout& layout, std::int64_t pages, const KvPoolOptions& options = {});

  const KvLayout& layout() const { return layout_; }
  KvStatistics statistics() const;
  /// Start of a page, 64-byte aligned; fixed for the pool's life.
  std::byte* data(PageId page) const;

  /// A page of undefined content with one holder, or nothing when all are held or the system has no
  /// memory.
  std::optional<PageId> take();
  /// One holder more for each of the pages, which have holders.
  void hold(std::span<const PageId> pages);
  /// One holder less for each of a sequence's pages, given in order of position: the last are
  /// evicted first, because nothing is found behind a page that is gone.
  void release(std::span<const PageId> pages) noexcept;
  /// The same, and none of the pages will be found again.
  void forget(std::span<const PageId> pages) noexcept;

  /// The page at `place` that agrees longest with `tokens`, but with more than `longer_than` of
  /// them; it has one holder more. kNoPage if there is none.
  PageMatch hold_match(const PagePlace& place, std::span<const TokenId> tokens,
                       std::int64_t longer_than);
  /// Publishes a page of the caller's, instead of what it was published for, as holding 1 to
  /// kPageTokens `tokens` at `place`. When a full page of the same is known already, the caller
  /// becomes a holder of that one instead and loses its own. Returns the page that the caller holds
  /// now.
  PageId publish(PageId page, const PagePlace& place, std::span<const TokenId> tokens);
  /// Whether unshare() would have to copy, because others hold the page.
  bool held_by_others(PageId page) const;
  /// How many of the pages have one holder only.
  std::int64_t count_exclusive(std::span<const PageId> pages) const;
  /// A page for the caller to write behind the first `length` tokens of `page`, which it holds:
  /// `page` itself when nobody needs what is there, else a copy that takes its place. Nothing when
  /// that needs a page more than there is.
  std::optional<PageId> unshare(PageId page, std::int64_t length);

  /// Counts tokens for the statistics.
  void count_reused(std::int64_t tokens);

 private:
  std::int32_t& holders(PageId page) { return holders_[static_cast<std::size_t>(page)]; }
  bool grow();
  void evict();
  std::optional<PageId> take_locked();
  void hold_locked(PageId page);
  void release_locked(PageId page) noexcept;

  KvLayout layout_;
  std::int64_t capacity_;
  std::int64_t cached_max_;

  mutable std::mutex mutex_;  ///< guards all that follows
  mutable PageSlabs slabs_;
  std::vector<std::int32_t> holders_;  ///< by page
  std::vector<PageId> free_;           ///< a stack
  PageLists cached_;                   ///< one list; who lost its holder last comes first
  PrefixIndex index_;
  std::int64_t used_count_ = 0;
  std::int64_t cached_count_ = 0;
  std::int64_t shared_count_ = 0;
  std::int64_t further_holders_ = 0;  ///< beyond each page's first
  std::int64_t evicted_ = 0;
  std::int64_t tokens_reused_ = 0;
};

}  // namespace r1::runtime
