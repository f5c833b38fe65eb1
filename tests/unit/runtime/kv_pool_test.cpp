// The page pool: recycling, limits, order.
#include "libr1/runtime/kv_pool.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace r1::runtime;

namespace {

const KvLayout kLayout{r1::kernels::KvType::f16, 2, 2, 64};

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
  CHECK(pool.used() == 5);
  pool.give_back(pages[2]);
  CHECK(pool.used() == 4);
  CHECK(pool.take() == pages[2]);
}

TEST_CASE("a sequence holds the pages of its positions and returns them") {
  KvPool pool(kLayout, 4);
  {
    KvSequence sequence(pool);
    CHECK(sequence.reserve(16));
    CHECK(pool.used() == 1);
    CHECK(sequence.reserve(17));
    CHECK(pool.used() == 2);
    CHECK(sequence.page_of(15) == sequence.pages()[0]);
    CHECK(sequence.page_of(16) == sequence.pages()[1]);
    CHECK_FALSE(sequence.reserve(65));
    CHECK(pool.used() == 2);
    CHECK(sequence.reserve(64));
    sequence.truncate(17);
    CHECK(pool.used() == 2);
    sequence.truncate(16);
    CHECK(pool.used() == 1);
    sequence.truncate(0);
    CHECK(pool.used() == 0);
    CHECK(sequence.reserve(1));
  }
  CHECK(pool.used() == 0);
}
