// One sequence's tokens and the pages of their keys and values. Pages are shared with other
// sequences wherever the tokens are the same, and copied before they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libr1/runtime/kv_pool.hpp"

namespace r1::runtime {

/// A step goes: reserve() room for new positions, let the forward pass write them, and tell with
/// computed() which tokens they are of. One thread at a time; a pool's sequences may be destroyed
/// by any thread, all else is done by the one that runs the forward pass. The pool outlives them.
class KvSequence {
 public:
  /// An empty sequence. Pages are shared among sequences of the same `share_key` only, so that how
  /// long a prompt takes tells nothing about prompts of another key.
  explicit KvSequence(KvPool& pool, std::uint64_t share_key = 0)
      : pool_(&pool), share_key_(share_key) {}
  ~KvSequence() { truncate(0); }
  KvSequence(KvSequence&& other) noexcept;
  KvSequence& operator=(KvSequence&& other) noexcept;

  /// The tokens whose keys and values are there, from position 0 on.
  const std::vector<TokenId>& tokens() const { return tokens_; }
  /// Pages that it holds, shared ones included.
  std::int64_t pages_held() const { return static_cast<std::int64_t>(ids_.size()); }

  /// Takes memory for the lists of up to `count` tokens now, not as they come.
  void expect(std::int64_t count);
  /// Becomes the longest beginning of `prompt` that is known: of what the sequence has itself, then
  /// of pages in the pool. Returns its length, less than the prompt's: logits come from computing
  /// its last token.
  std::int64_t attach(std::span<const TokenId> prompt);
  /// Makes room for positions [0, count), and those from tokens().size() on this sequence's own to
  /// write. False, and nothing changed, when the pool has no page for it.
  bool reserve(std::int64_t count);
  /// Free or cached pages without which reserve(count) fails.
  std::int64_t pages_wanted(std::int64_t count) const;
  /// Pages that become free or cached when it gives its own back.
  std::int64_t pages_exclusive() const { return pool_->count_exclusive(ids_); }
  /// Appends `tokens`, whose keys and values were written, and lets others find them. Their
  /// positions were reserved.
  void computed(std::span<const TokenId> tokens);
  /// Keeps positions [0, count) and the pages that they need. What is dropped stays in the pool as
  /// long as there is room.
  void truncate(std::int64_t count) noexcept;
  /// Another sequence of the same tokens, on the same pages.
  KvSequence fork() const;
  /// Drops everything, and nobody will find these pages: for keys and values that are broken.
  void forget() noexcept;

  /// Page starts, for the kernels; valid until a member that is not const is called.
  const std::byte* const* pages() const { return addresses_.data(); }
  /// The page that holds `position`.
  std::byte* page_of(std::int64_t position) const {
    return addresses_[static_cast<std::size_t>(position / kernels::kPageTokens)];
  }

 private:
  PagePlace place(std::size_t index) const;
  void append(PageId page);
  void replace(std::size_t index, PageId page);
  void drop_pages(std::size_t kept) noexcept;

  KvPool* pool_;
  std::uint64_t share_key_;
  std::vector<TokenId> tokens_;
  std::vector<PageId> ids_;  ///< by position; may be more than tokens_ need
  std::vector<std::byte*> addresses_;
};

}  // namespace r1::runtime
