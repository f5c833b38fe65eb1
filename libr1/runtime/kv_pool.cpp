// The page pool: slabs of pages and a stack of free ones.
#include "libr1/runtime/kv_pool.hpp"

#include <algorithm>

#include "r1/error.hpp"

namespace r1::runtime {

namespace {

// One slab is large enough for huge pages and small enough that a short chat takes little.
constexpr std::int64_t kSlabBytes = 16 << 20;

}  // namespace

KvPool::KvPool(const KvLayout& layout, std::int64_t pages, base::Pages memory)
    : layout_(layout),
      capacity_(pages),
      slab_pages_(std::max<std::int64_t>(1, kSlabBytes / layout.page_bytes())),
      memory_(memory) {}

bool KvPool::grow() {
  const auto pages = static_cast<std::int64_t>(slabs_.size()) * slab_pages_;
  const std::int64_t count = std::min(slab_pages_, capacity_ - pages);
  if (count <= 0) return false;
  try {
    slabs_.emplace_back(static_cast<std::size_t>(slab_pages_ * layout_.page_bytes()), "KV cache",
                        memory_);
  } catch (const Error&) {
    return false;
  }
  // Lowest page last, so that pages are given in order.
  for (std::int64_t i = count; i-- > 0;) free_.push_back(static_cast<PageId>(pages + i));
  return true;
}

std::optional<PageId> KvPool::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty() && !grow()) return std::nullopt;
  const PageId page = free_.back();
  free_.pop_back();
  return page;
}

void KvPool::give_back(PageId page) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(page);
}

std::byte* KvPool::data(PageId page) const {
  const std::scoped_lock lock(mutex_);
  return slabs_[static_cast<std::size_t>(page / slab_pages_)].data() +
         page % slab_pages_ * layout_.page_bytes();
}

std::int64_t KvPool::used() const {
  const std::scoped_lock lock(mutex_);
  const std::int64_t made =
      std::min(capacity_, static_cast<std::int64_t>(slabs_.size()) * slab_pages_);
  return made - static_cast<std::int64_t>(free_.size());
}

bool KvSequence::reserve(std::int64_t tokens) {
  const std::size_t before = ids_.size();
  const auto needed =
      static_cast<std::size_t>((tokens + kernels::kPageTokens - 1) / kernels::kPageTokens);
  while (ids_.size() < needed) {
    const auto page = pool_->take();
    if (!page) {
      truncate(static_cast<std::int64_t>(before) * kernels::kPageTokens);
      return false;
    }
    ids_.push_back(*page);
    addresses_.push_back(pool_->data(*page));
  }
  return true;
}

void KvSequence::truncate(std::int64_t tokens) {
  const auto needed =
      static_cast<std::size_t>((tokens + kernels::kPageTokens - 1) / kernels::kPageTokens);
  while (ids_.size() > needed) {
    pool_->give_back(ids_.back());
    ids_.pop_back();
    addresses_.pop_back();
  }
}

}  // namespace r1::runtime
