// Lists threaded through one array, against std::list.
#include "libr1/runtime/page_lists.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <random>
#include <vector>

using namespace r1::runtime;

TEST_CASE("page lists do what separate lists do") {
  constexpr std::size_t kLists = 3;
  std::mt19937 random(1);
  PageId pages = 4;
  PageLists lists;
  lists.reset(pages, kLists);
  std::vector<std::list<PageId>> expected(kLists);
  std::vector<PageId> outside = {0, 1, 2, 3};
  for (int step = 0; step < 5000; ++step) {
    if (step % 500 == 499) {
      outside.push_back(pages++);
      lists.resize(pages);
    }
    const std::size_t list = random() % kLists;
    if (random() % 2 == 0 && !outside.empty()) {
      std::swap(outside[random() % outside.size()], outside.back());
      lists.push_front(list, outside.back());
      expected[list].push_front(outside.back());
      outside.pop_back();
    } else if (!expected[list].empty()) {
      auto gone = expected[list].begin();
      std::advance(gone, random() % expected[list].size());
      lists.remove(*gone);
      outside.push_back(*gone);
      expected[list].erase(gone);
    }
    for (std::size_t i = 0; i < kLists; ++i) {
      std::vector<PageId> got;
      for (PageId page = lists.front(i); page != kNoPage; page = lists.next(page)) {
        got.push_back(page);
      }
      REQUIRE(std::ranges::equal(got, expected[i]));
      REQUIRE(lists.back(i) == (expected[i].empty() ? kNoPage : expected[i].back()));
    }
  }
  lists.reset(pages, 1);
  CHECK(lists.front(0) == kNoPage);
  CHECK(lists.back(0) == kNoPage);
}
