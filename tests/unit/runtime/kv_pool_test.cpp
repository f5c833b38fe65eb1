// The page pool: states of a page and their counts, limits, order of eviction, publication.
#include "libr1/runtime/kv_pool.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <vector>

using namespace r1;
using namespace r1::runtime;

namespace {

const KvLayout kLayout{kernels::KvType::f16, 2, 2, 64};

std::vector<TokenId> counting(TokenId first, std::size_t count = 16) {
  std::vector<TokenId> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

/// Pages by state; they add up to the capacity.
void check_counts(const KvPool& pool, std::int64_t used, std::int64_t cached, std::int64_t shared) {
  const KvStatistics statistics = pool.statistics();
  CHECK(statistics.used == used);
  CHECK(statistics.cached == cached);
  CHECK(statistics.shared == shared);
  CHECK(statistics.free + statistics.used + statistics.cached == statistics.capacity);
}

}  // namespace

TEST_CASE("offsets of heads and layers tile a page") {
  CHECK(kLayout.head_bytes() == 64 * 16 * 2);
  CHECK(kLayout.layer_bytes() == 4 * kLayout.head_bytes());
  CHECK(kLayout.page_bytes() == 2 * kLayout.layer_bytes());
  CHECK(kLayout.k_offset(1, 1) == kLayout.layer_bytes() + kLayout.head_bytes());
  CHECK(kLayout.v_offset(0, 0) == 2 * kLayout.head_bytes());
  CHECK(kLayout.v_offset(1, 1) + kLayout.head_bytes() == kLayout.page_bytes());
}

TEST_CASE("a pool gives distinct aligned pages up to its capacity and takes them back") {
  KvPool pool(kLayout, 5);
  std::set<std::byte*> starts;
  std::vector<PageId> pages;
  for (int i = 0; i < 5; ++i) {
    const auto page = pool.take();
    REQUIRE(page);
    pages.push_back(*page);
    starts.insert(pool.data(*page));
    CHECK(reinterpret_cast<std::uintptr_t>(pool.data(*page)) % 64 == 0);
  }
  CHECK(starts.size() == 5);
  CHECK_FALSE(pool.take());
  check_counts(pool, 5, 0, 0);
  pool.release(std::span(pages).subspan(2, 1));
  check_counts(pool, 4, 0, 0);
  CHECK(pool.take() == pages[2]);
}

TEST_CASE("a pool larger than the machine costs nothing until its pages are used (R4)") {
  const std::int64_t pages = std::int64_t{1} << 40;
  KvPool pool({kernels::KvType::f16, 64, 8, 128}, pages);
  CHECK(pool.statistics().capacity == std::numeric_limits<PageId>::max());
  check_counts(pool, 0, 0, 0);
  const auto page = pool.take();
  REQUIRE(page);
  CHECK(pool.data(*page)[0] == std::byte{0});
}

TEST_CASE("a page has as many holders as took hold of it") {
  KvPool pool(kLayout, 3);
  const std::vector<PageId> pages = {*pool.take(), *pool.take()};
  pool.hold(pages);
  pool.hold(std::span(pages).first(1));
  check_counts(pool, 2, 0, 2);
  CHECK(pool.held_by_others(pages[0]));
  CHECK(pool.statistics().bytes_saved == 3 * kLayout.page_bytes());
  pool.release(pages);
  check_counts(pool, 2, 0, 1);
  pool.release(pages);
  check_counts(pool, 1, 0, 0);
  CHECK_FALSE(pool.held_by_others(pages[0]));
  CHECK(pool.statistics().bytes_saved == 0);
  pool.release(std::span(pages).first(1));
  check_counts(pool, 0, 0, 0);
}

TEST_CASE("published pages stay as cache and are found; the others are free at once") {
  KvPool pool(kLayout, 4);
  const std::vector<PageId> pages = {*pool.take(), *pool.take(), *pool.take()};
  CHECK(pool.publish(pages[0], {}, counting(0)) == pages[0]);
  CHECK(pool.publish(pages[1], {pages[0], 0}, counting(50, 9)) == pages[1]);
  pool.release(pages);
  check_counts(pool, 0, 2, 0);
  CHECK(pool.hold_match({}, counting(0), 0).page == pages[0]);
  check_counts(pool, 1, 1, 0);
  CHECK(pool.hold_match({pages[0], 0}, counting(50), 9).page == kNoPage);
  const PageMatch match = pool.hold_match({pages[0], 0}, counting(50), 8);
  CHECK(match.page == pages[1]);
  CHECK(match.length == 9);
  pool.forget(std::vector{pages[0], pages[1]});
  check_counts(pool, 0, 0, 0);
  CHECK(pool.hold_match({}, counting(0), 0).page == kNoPage);
}

TEST_CASE("what is published twice is held once") {
  KvPool pool(kLayout, 4);
  const PageId first = *pool.take();
  const PageId second = *pool.take();
  pool.publish(first, {}, counting(0));
  pool.publish(second, {}, counting(0, 15));
  CHECK(pool.publish(second, {}, counting(0)) == first);
  check_counts(pool, 1, 0, 1);
  // Two that are not full may differ in what follows; both stay, but only one as cache.
  const std::vector<PageId> partial = {*pool.take(), *pool.take()};
  for (const PageId page : partial) CHECK(pool.publish(page, {first, 0}, counting(50, 3)) == page);
  pool.release(partial);
  check_counts(pool, 1, 1, 1);
}

TEST_CASE("a page is written in place by its only holder, and copied for one of several") {
  KvPool pool(kLayout, 3);
  const PageId page = *pool.take();
  const auto content = [&](PageId at) { return pool.data(at)[kLayout.page_bytes() - 1]; };
  pool.data(page)[kLayout.page_bytes() - 1] = std::byte{42};
  pool.publish(page, {}, counting(0, 7));
  CHECK(pool.unshare(page, 7) == page);
  pool.hold(std::span(&page, 1));
  const auto copy = pool.unshare(page, 7);
  REQUIRE(copy);
  CHECK(*copy != page);
  CHECK(content(*copy) == std::byte{42});
  check_counts(pool, 2, 0, 0);
  // Published tokens behind those that are kept are still worth something.
  const auto second = pool.unshare(page, 5);
  REQUIRE(second);
  CHECK(*second != page);
  check_counts(pool, 2, 1, 0);
}

TEST_CASE("without room for a copy others keep their page, and the only holder gets its own") {
  KvPool pool(kLayout, 1);
  const PageId page = *pool.take();
  pool.publish(page, {}, counting(0));
  pool.hold(std::span(&page, 1));
  CHECK_FALSE(pool.unshare(page, 7));
  pool.release(std::span(&page, 1));
  CHECK(pool.unshare(page, 7) == page);
  CHECK(pool.hold_match({}, counting(0), 0).page == kNoPage);
}

TEST_CASE("who lost its last holder first is evicted first, and of a sequence the end") {
  KvPool pool(kLayout, 6);
  std::vector<std::vector<PageId>> chains;
  for (const TokenId first : {0, 1000}) {
    std::vector<PageId> chain;
    for (TokenId i = 0; i < 3; ++i) {
      const PageId page = *pool.take();
      pool.publish(page, {chain.empty() ? kNoPage : chain.back(), 0}, counting(first + 16 * i));
      chain.push_back(page);
    }
    chains.push_back(chain);
  }
  pool.release(chains[1]);
  pool.release(chains[0]);
  // The older one is used again, its first page at least.
  CHECK(pool.hold_match({}, counting(1000), 0).page == chains[1][0]);
  pool.release(std::span(chains[1]).first(1));
  const std::vector<PageId> expected = {chains[1][2], chains[1][1], chains[0][2],
                                        chains[0][1], chains[0][0], chains[1][0]};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("eviction " << i);
    CHECK(pool.take() == expected[i]);
    CHECK(pool.statistics().evicted == static_cast<std::int64_t>(i) + 1);
  }
  CHECK_FALSE(pool.take());
  check_counts(pool, 6, 0, 0);
}

TEST_CASE("the cache may be bounded") {
  for (const std::int64_t most : {0, 1, 2}) {
    KvPool pool(kLayout, 6, {.cached_max = most});
    std::vector<PageId> pages;
    for (TokenId i = 0; i < 3; ++i) {
      pages.push_back(*pool.take());
      pool.publish(pages.back(), {i == 0 ? kNoPage : pages[pages.size() - 2], 0}, counting(i));
    }
    pool.release(pages);
    check_counts(pool, 0, most, 0);
    CHECK(pool.statistics().evicted == 3 - most);
    // What is left is the beginning.
    CHECK((pool.hold_match({}, counting(0), 0).page == pages[0]) == (most > 0));
  }
}
