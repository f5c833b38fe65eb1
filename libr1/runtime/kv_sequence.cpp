// Sharing is lazy: a sequence holds a page as soon as its first tokens agree, and takes a copy when
// it has to write behind them.
#include "libr1/runtime/kv_sequence.hpp"

#include <algorithm>
#include <utility>

namespace r1::runtime {
namespace {

constexpr auto kPage = static_cast<std::size_t>(kernels::kPageTokens);

std::size_t pages_for(std::size_t tokens) { return (tokens + kPage - 1) / kPage; }

}  // namespace

// A vector that was moved from is empty, so the other one holds no pages.
KvSequence::KvSequence(KvSequence&& other) noexcept = default;

KvSequence& KvSequence::operator=(KvSequence&& other) noexcept {
  if (this == &other) return *this;
  truncate(0);
  pool_ = other.pool_;
  share_key_ = other.share_key_;
  tokens_ = std::exchange(other.tokens_, {});
  ids_ = std::exchange(other.ids_, {});
  addresses_ = std::exchange(other.addresses_, {});
  return *this;
}

PagePlace KvSequence::place(std::size_t index) const {
  return {index == 0 ? kNoPage : ids_[index - 1], share_key_};
}

void KvSequence::append(PageId page) {
  ids_.push_back(page);
  addresses_.push_back(pool_->data(page));
}

void KvSequence::replace(std::size_t index, PageId page) {
  if (ids_[index] == page) return;
  ids_[index] = page;
  addresses_[index] = pool_->data(page);
}

void KvSequence::drop_pages(std::size_t kept) noexcept {
  if (ids_.size() <= kept) return;
  pool_->release(std::span(ids_).subspan(kept));
  ids_.resize(kept);
  addresses_.resize(kept);
}

void KvSequence::expect(std::int64_t count) {
  const auto tokens = static_cast<std::size_t>(count);
  tokens_.reserve(tokens);
  ids_.reserve(pages_for(tokens));
  addresses_.reserve(pages_for(tokens));
}

std::int64_t KvSequence::attach(std::span<const TokenId> prompt) {
  const auto usable = prompt.first(prompt.empty() ? 0 : prompt.size() - 1);
  const auto own = std::ranges::mismatch(tokens_, usable).in1 - tokens_.begin();
  truncate(own);
  for (bool whole = true; whole;) {
    const std::size_t index = tokens_.size() / kPage;
    const auto rest = usable.subspan(index * kPage);
    // A page that is partly used already is left for one that agrees longer.
    const auto partial = static_cast<std::int64_t>(tokens_.size() % kPage);
    const PageMatch match =
        pool_->hold_match(place(index), rest.first(std::min(rest.size(), kPage)), partial);
    if (match.page == kNoPage) break;
    drop_pages(index);
    append(match.page);
    tokens_.resize(index * kPage);
    tokens_.insert(tokens_.end(), rest.begin(), rest.begin() + match.length);
    whole = match.length == kernels::kPageTokens;
  }
  pool_->count_reused(static_cast<std::int64_t>(tokens_.size()));
  return static_cast<std::int64_t>(tokens_.size());
}

bool KvSequence::reserve(std::int64_t count) {
  const std::size_t before = ids_.size();
  const auto wanted = static_cast<std::size_t>(count);
  while (ids_.size() < pages_for(wanted)) {
    const auto page = pool_->take();
    if (!page) {
      drop_pages(before);
      return false;
    }
    append(*page);
  }
  const std::size_t partial = tokens_.size() % kPage;
  if (wanted <= tokens_.size() || partial == 0) return true;
  const std::size_t last = tokens_.size() / kPage;
  const auto own = pool_->unshare(ids_[last], static_cast<std::int64_t>(partial));
  if (!own) {
    drop_pages(before);
    return false;
  }
  replace(last, *own);
  return true;
}

std::int64_t KvSequence::pages_wanted(std::int64_t count) const {
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t pages = std::max(pages_for(wanted), ids_.size()) - ids_.size();
  const bool copies = wanted > tokens_.size() && tokens_.size() % kPage != 0 &&
                      pool_->held_by_others(ids_[tokens_.size() / kPage]);
  return static_cast<std::int64_t>(pages) + (copies ? 1 : 0);
}

void KvSequence::computed(std::span<const TokenId> tokens) {
  std::size_t index = tokens_.size() / kPage;
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  for (; index * kPage < tokens_.size(); ++index) {
    const auto rest = std::span<const TokenId>(tokens_).subspan(index * kPage);
    replace(index,
            pool_->publish(ids_[index], place(index), rest.first(std::min(rest.size(), kPage))));
  }
}

void KvSequence::truncate(std::int64_t count) noexcept {
  const auto kept = static_cast<std::size_t>(count);
  drop_pages(pages_for(kept));
  if (kept < tokens_.size()) tokens_.resize(kept);
}

KvSequence KvSequence::fork() const {
  KvSequence other(*pool_, share_key_);
  const std::size_t pages = pages_for(tokens_.size());
  other.tokens_ = tokens_;
  other.ids_.assign(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(pages));
  other.addresses_.assign(addresses_.begin(),
                          addresses_.begin() + static_cast<std::ptrdiff_t>(pages));
  pool_->hold(other.ids_);
  return other;
}

void KvSequence::forget() noexcept {
  pool_->forget(ids_);
  tokens_.clear();
  ids_.clear();
  addresses_.clear();
}

}  // namespace r1::runtime
