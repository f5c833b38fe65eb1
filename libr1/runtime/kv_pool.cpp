// A page is free, used or cached, and moves between the three here, always under the mutex.
#include "libr1/runtime/kv_pool.hpp"

#include <algorithm>
#include <cstring>

namespace r1::runtime {

KvPool::KvPool(const KvLayout& layout, std::int64_t pages, const KvPoolOptions& options)
    : layout_(layout),
      capacity_(std::min<std::int64_t>(pages, std::numeric_limits<PageId>::max())),
      cached_max_(options.cached_max),
      slabs_(layout.page_bytes(), capacity_, options.memory),
      index_(options.hash) {
  cached_.reset(0, 1);
}

KvStatistics KvPool::statistics() const {
  const std::scoped_lock lock(mutex_);
  return {.capacity = capacity_,
          .free = capacity_ - slabs_.pages() + static_cast<std::int64_t>(free_.size()),
          .used = used_count_,
          .cached = cached_count_,
          .shared = shared_count_,
          .evicted = evicted_,
          .tokens_reused = tokens_reused_,
          .bytes_saved = further_holders_ * layout_.page_bytes()};
}

std::byte* KvPool::data(PageId page) const {
  const std::scoped_lock lock(mutex_);
  return slabs_.data(page);
}

std::optional<PageId> KvPool::take() {
  const std::scoped_lock lock(mutex_);
  return take_locked();
}

void KvPool::hold(std::span<const PageId> pages) {
  const std::scoped_lock lock(mutex_);
  for (const PageId page : pages) hold_locked(page);
}

void KvPool::release(std::span<const PageId> pages) noexcept {
  const std::scoped_lock lock(mutex_);
  for (auto page = pages.rbegin(); page != pages.rend(); ++page) release_locked(*page);
}

void KvPool::forget(std::span<const PageId> pages) noexcept {
  const std::scoped_lock lock(mutex_);
  for (const PageId page : pages) {
    index_.erase(page);
    release_locked(page);
  }
}

PageMatch KvPool::hold_match(const PagePlace& place, std::span<const TokenId> tokens,
                             std::int64_t longer_than) {
  const std::scoped_lock lock(mutex_);
  PageMatch match;
  if (tokens.size() == kernels::kPageTokens) {
    match = {index_.find(place, tokens), kernels::kPageTokens};
  }
  if (match.page == kNoPage) match = index_.longest(place, tokens);
  if (match.page == kNoPage || match.length <= longer_than) return {};
  hold_locked(match.page);
  return match;
}

PageId KvPool::publish(PageId page, const PagePlace& place, std::span<const TokenId> tokens) {
  const std::scoped_lock lock(mutex_);
  if (tokens.size() == kernels::kPageTokens) {
    const PageId same = index_.find(place, tokens);
    if (same != kNoPage) {
      hold_locked(same);
      release_locked(page);
      return same;
    }
  }
  index_.erase(page);
  index_.publish(page, place, tokens);
  return page;
}

std::int64_t KvPool::count_exclusive(std::span<const PageId> pages) const {
  const std::scoped_lock lock(mutex_);
  return std::count_if(pages.begin(), pages.end(),
                       [&](PageId page) { return holders_[static_cast<std::size_t>(page)] == 1; });
}

bool KvPool::held_by_others(PageId page) const {
  const std::scoped_lock lock(mutex_);
  return holders_[static_cast<std::size_t>(page)] > 1;
}

std::optional<PageId> KvPool::unshare(PageId page, std::int64_t length) {
  std::unique_lock lock(mutex_);
  const bool alone = holders(page) == 1;
  if (alone && index_.length(page) <= length) return page;
  const auto copy = take_locked();
  if (!copy) {
    if (!alone) return std::nullopt;
    // Nothing is left to evict but what others may look for in this page.
    index_.erase(page);
    return page;
  }
  const std::byte* const from = slabs_.data(page);
  std::byte* const to = slabs_.data(*copy);
  lock.unlock();
  // The whole page: tokens behind `length` will be written before they are read.
  std::memcpy(to, from, static_cast<std::size_t>(layout_.page_bytes()));
  lock.lock();
  release_locked(page);
  return copy;
}

void KvPool::count_reused(std::int64_t tokens) {
  const std::scoped_lock lock(mutex_);
  tokens_reused_ += tokens;
}

bool KvPool::grow() {
  const std::int64_t before = slabs_.pages();
  if (!slabs_.grow()) return false;
  const std::int64_t pages = slabs_.pages();
  holders_.resize(static_cast<std::size_t>(pages));
  cached_.resize(pages);
  index_.resize(pages);
  free_.reserve(static_cast<std::size_t>(pages));  // so that release() never allocates
  // Lowest page last, so that pages are given in order.
  for (std::int64_t page = pages; page-- > before;) free_.push_back(static_cast<PageId>(page));
  return true;
}

void KvPool::evict() {
  const PageId page = cached_.back(0);
  cached_.remove(page);
  index_.erase(page);
  free_.push_back(page);
  --cached_count_;
  ++evicted_;
}

std::optional<PageId> KvPool::take_locked() {
  if (free_.empty() && !grow()) {
    if (cached_count_ == 0) return std::nullopt;
    evict();
  }
  const PageId page = free_.back();
  free_.pop_back();
  holders(page) = 1;
  ++used_count_;
  return page;
}

void KvPool::hold_locked(PageId page) {
  const std::int32_t before = holders(page)++;
  if (before == 0) {
    cached_.remove(page);
    --cached_count_;
    ++used_count_;
    return;
  }
  ++further_holders_;
  if (before == 1) ++shared_count_;
}

void KvPool::release_locked(PageId page) noexcept {
  const std::int32_t left = --holders(page);
  if (left > 0) {
    --further_holders_;
    if (left == 1) --shared_count_;
    return;
  }
  --used_count_;
  const std::int64_t length = index_.length(page);
  // The beginning of another known page would only take room.
  const bool useful = length == kernels::kPageTokens || (length > 0 && !index_.covered(page));
  if (!useful) {
    index_.erase(page);
    free_.push_back(page);
    return;
  }
  cached_.push_front(0, page);
  if (++cached_count_ > cached_max_) evict();
}

}  // namespace r1::runtime
