// Fixed-size pages of keys and values. Memory is taken in slabs as pages are needed and recycled
// when returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "libr1/base/aligned_buffer.hpp"
#include "libr1/runtime/kv_layout.hpp"

namespace r1::runtime {

/// Number of a page in its pool.
using PageId = std::int32_t;

/// Owns the pages. Thread-safe; what is in a page is its holder's business.
class KvPool {
 public:
  /// At most `pages` pages; no memory is taken yet. `memory`: what they are to lie on.
  KvPool(const KvLayout& layout, std::int64_t pages, base::Pages memory = base::Pages::advised);

  const KvLayout& layout() const { return layout_; }
  /// A page of undefined content, or empty when the pool is full or the system has no memory.
  std::optional<PageId> take();
  /// Returns a page; it is the next one that take() gives.
  void give_back(PageId page);
  /// Start of a page, 64-byte aligned; fixed for the pool's life.
  std::byte* data(PageId page) const;
  std::int64_t used() const;

 private:
  bool grow();

  KvLayout layout_;
  std::int64_t capacity_;
  std::int64_t slab_pages_;
  base::Pages memory_;
  mutable std::mutex mutex_;
  std::vector<PageId> free_;
  mutable std::vector<base::AlignedBuffer> slabs_;
};

/// One sequence's pages in order of position. Returns them to the pool when destroyed, which must
/// outlive it.
class KvSequence {
 public:
  explicit KvSequence(KvPool& pool) : pool_(&pool) {}
  ~KvSequence() { truncate(0); }
  KvSequence(const KvSequence&) = delete;
  KvSequence& operator=(const KvSequence&) = delete;

  /// Makes room for positions [0, tokens). False, and nothing changed, when the pool is full.
  bool reserve(std::int64_t tokens);
  /// Keeps the pages that positions [0, tokens) need.
  void truncate(std::int64_t tokens);
  /// Page starts, for the kernels; valid until reserve() or truncate().
  const std::byte* const* pages() const { return addresses_.data(); }
  /// The page that holds `position`.
  std::byte* page_of(std::int64_t position) const {
    return addresses_[static_cast<std::size_t>(position / kernels::kPageTokens)];
  }

 private:
  KvPool* pool_;
  std::vector<PageId> ids_;
  std::vector<std::byte*> addresses_;
};

}  // namespace r1::runtime
