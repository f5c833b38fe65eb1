// Memory of a pool's pages, taken from the system slab by slab as pages are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libr1/base/aligned_buffer.hpp"
#include "libr1/runtime/page_lists.hpp"

namespace r1::runtime {

/// Owns the memory. Not thread-safe; pages stay where they are for its life.
class PageSlabs {
 public:
  /// At most `pages_max` pages of `page_bytes` (a multiple of 64); no memory is taken yet.
  PageSlabs(std::int64_t page_bytes, std::int64_t pages_max, base::Pages memory);

  /// Pages there are: [0, pages()).
  std::int64_t pages() const { return pages_; }
  /// Adds a slab of pages. False when all are there, or the system has no memory.
  bool grow();
  /// Start of a page, 64-byte aligned.
  std::byte* data(PageId page);

 private:
  std::int64_t page_bytes_;
  std::int64_t pages_max_;
  std::int64_t slab_pages_;
  base::Pages memory_;
  std::int64_t pages_ = 0;
  std::vector<base::AlignedBuffer> slabs_;
};

}  // namespace r1::runtime
