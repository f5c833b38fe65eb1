// Slabs of equal size; the last one may hold fewer pages than fit.
#include "libr1/runtime/page_slabs.hpp"

#include <algorithm>

#include "r1/error.hpp"

namespace r1::runtime {
namespace {

// One slab is large enough for huge pages and small enough that a short chat takes little.
constexpr std::int64_t kSlabBytes = 16 << 20;

}  // namespace

PageSlabs::PageSlabs(std::int64_t page_bytes, std::int64_t pages_max, base::Pages memory)
    : page_bytes_(page_bytes),
      pages_max_(pages_max),
      slab_pages_(std::max<std::int64_t>(1, kSlabBytes / page_bytes)),
      memory_(memory) {}

bool PageSlabs::grow() {
  const std::int64_t count = std::min(slab_pages_, pages_max_ - pages_);
  if (count <= 0) return false;
  try {
    slabs_.emplace_back(static_cast<std::size_t>(count * page_bytes_), "KV cache", memory_);
  } catch (const Error&) {
    return false;
  }
  pages_ += count;
  return true;
}

std::byte* PageSlabs::data(PageId page) {
  return slabs_[static_cast<std::size_t>(page / slab_pages_)].data() +
         page % slab_pages_ * page_bytes_;
}

}  // namespace r1::runtime
