// Two hash tables over the published pages: by all tokens, which a prompt's full pages are looked
// up in, and by the first one, which finds the page to copy where a prompt leaves the others.
#include "libr1/runtime/prefix_index.hpp"

#include <algorithm>
#include <bit>

namespace r1::runtime {
namespace {

constexpr auto kFull = static_cast<std::size_t>(kernels::kPageTokens);

// Pages looked at for the longest match. All texts without a system prompt begin alike; a match of
// a few tokens is not worth a walk through thousands of them.
constexpr int kCandidatesMax = 256;

}  // namespace

std::uint64_t PrefixIndex::mix(std::uint64_t parent, std::uint64_t share_key,
                               std::span<const TokenId> tokens) {
  // The finisher of splitmix64 (Steele, Lea and Flood 2014), over one word after the other.
  std::uint64_t state = 0;
  const auto add = [&state](std::uint64_t word) {
    state = (state ^ word) + 0x9e3779b97f4a7c15;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
    state ^= state >> 31;
  };
  add(parent);
  add(share_key);
  for (const TokenId token : tokens) add(static_cast<std::uint64_t>(token));
  return state;
}

void PrefixIndex::resize(std::int64_t pages) {
  nodes_.resize(static_cast<std::size_t>(pages));
  if (buckets_ >= nodes_.size()) {
    whole_.resize(pages);
    begins_.resize(pages);
    return;
  }
  buckets_ = std::bit_ceil(nodes_.size());
  whole_.reset(pages, buckets_);
  begins_.reset(pages, buckets_);
  for (PageId page = 0; page < pages; ++page) {
    if (length(page) > 0) enlist(page);
  }
}

std::optional<PrefixIndex::Prefix> PrefixIndex::prefix_of(const PagePlace& place) const {
  if (place.parent == kNoPage) return Prefix{0, place.share_key};
  if (length(place.parent) < kernels::kPageTokens) return std::nullopt;
  return Prefix{node(place.parent).number, place.share_key};
}

std::size_t PrefixIndex::bucket(const Prefix& prefix, std::span<const TokenId> tokens) const {
  return hash_(prefix.parent, prefix.share_key, tokens) & (buckets_ - 1);
}

void PrefixIndex::enlist(PageId page) {
  const Node& added = node(page);
  const std::span<const TokenId> tokens = added.tokens;
  begins_.push_front(bucket(added.prefix, tokens.first(1)), page);
  if (added.length == kernels::kPageTokens) whole_.push_front(bucket(added.prefix, tokens), page);
}

void PrefixIndex::publish(PageId page, const PagePlace& place, std::span<const TokenId> tokens) {
  const auto prefix = prefix_of(place);
  if (!prefix) return;
  Node& added = node(page);
  added.number = ++publications_;
  added.prefix = *prefix;
  added.length = static_cast<std::int64_t>(tokens.size());
  std::copy(tokens.begin(), tokens.end(), added.tokens.begin());
  enlist(page);
}

void PrefixIndex::erase(PageId page) {
  Node& gone = node(page);
  if (gone.length == 0) return;
  begins_.remove(page);
  if (gone.length == kernels::kPageTokens) whole_.remove(page);
  gone.length = 0;
}

PageId PrefixIndex::find(const PagePlace& place, std::span<const TokenId> tokens) const {
  const auto prefix = prefix_of(place);
  if (!prefix || buckets_ == 0) return kNoPage;
  PageId page = whole_.front(bucket(*prefix, tokens));
  while (page != kNoPage &&
         !(node(page).prefix == *prefix && std::ranges::equal(node(page).tokens, tokens))) {
    page = whole_.next(page);
  }
  return page;
}

PageMatch PrefixIndex::longest(const PagePlace& place, std::span<const TokenId> tokens) const {
  const auto prefix = prefix_of(place);
  if (!prefix) return {};
  return longest(*prefix, tokens.first(std::min(tokens.size(), kFull)), kNoPage);
}

bool PrefixIndex::covered(PageId page) const {
  const Node& small = node(page);
  const auto tokens = std::span(small.tokens).first(static_cast<std::size_t>(small.length));
  return longest(small.prefix, tokens, page).length == small.length;
}

PageMatch PrefixIndex::longest(const Prefix& prefix, std::span<const TokenId> tokens,
                               PageId except) const {
  PageMatch best;
  if (buckets_ == 0 || tokens.empty()) return best;
  int candidates = 0;
  for (PageId page = begins_.front(bucket(prefix, tokens.first(1)));
       page != kNoPage && candidates < kCandidatesMax; page = begins_.next(page), ++candidates) {
    const Node& other = node(page);
    if (page == except || other.prefix != prefix) continue;
    const auto known = std::span(other.tokens).first(static_cast<std::size_t>(other.length));
    const auto length = std::ranges::mismatch(known, tokens).in1 - known.begin();
    if (length > best.length) best = {page, length};
  }
  return best;
}

}  // namespace r1::runtime
