// The index of published pages: exact tokens, exact prefixes, keys, whatever the hash is worth
// (case K4).
#include "libr1/runtime/prefix_index.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

using namespace r1;
using namespace r1::runtime;

namespace {

std::uint64_t mod_two(std::uint64_t, std::uint64_t, std::span<const TokenId> tokens) {
  return static_cast<std::uint64_t>(tokens.front()) % 2;
}
std::uint64_t zero(std::uint64_t, std::uint64_t, std::span<const TokenId>) { return 0; }

using Tokens = std::vector<TokenId>;

/// `count` tokens that count up from `first`.
Tokens counting(TokenId first, std::size_t count = 16) {
  Tokens tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

PrefixIndex index_with(PrefixIndex::Hash hash, std::int64_t pages = 16) {
  PrefixIndex index(hash);
  index.resize(pages);
  return index;
}

}  // namespace

TEST_CASE("a page is found by its tokens, its prefix and its key, and by nothing less (K4)") {
  for (const PrefixIndex::Hash hash : {&PrefixIndex::mix, &mod_two, &zero}) {
    PrefixIndex index = index_with(hash);
    CHECK(index.find({}, counting(0)) == kNoPage);
    index.publish(0, {kNoPage, 7}, counting(0));
    index.publish(1, {0, 7}, counting(100));
    index.publish(2, {kNoPage, 7}, counting(50));
    index.publish(3, {2, 7}, counting(100));

    CHECK(index.find({kNoPage, 7}, counting(0)) == 0);
    CHECK(index.find({kNoPage, 7}, counting(50)) == 2);
    // The same tokens behind different ones are not the same page.
    CHECK(index.find({0, 7}, counting(100)) == 1);
    CHECK(index.find({2, 7}, counting(100)) == 3);
    CHECK(index.find({1, 7}, counting(100)) == kNoPage);
    CHECK(index.find({kNoPage, 7}, counting(100)) == kNoPage);
    // Nor are those under another key.
    CHECK(index.find({kNoPage, 8}, counting(0)) == kNoPage);
    CHECK(index.longest({kNoPage, 8}, counting(0)).page == kNoPage);
    // One token that differs, wherever it is.
    for (std::size_t i = 0; i < 16; ++i) {
      Tokens other = counting(0);
      other[i] += 2;
      CHECK(index.find({kNoPage, 7}, other) == kNoPage);
      CHECK(index.longest({kNoPage, 7}, other).length == static_cast<std::int64_t>(i));
    }
  }
}

TEST_CASE("the longest match is among pages of any length") {
  for (const PrefixIndex::Hash hash : {&PrefixIndex::mix, &mod_two, &zero}) {
    PrefixIndex index = index_with(hash);
    Tokens full = counting(0);
    full[9] = -1;
    index.publish(0, {}, full);
    index.publish(1, {}, counting(0, 5));
    index.publish(2, {}, counting(0, 12));
    index.publish(3, {}, counting(1, 16));
    CHECK(index.length(1) == 5);
    CHECK(index.longest({}, counting(0)).page == 2);
    CHECK(index.longest({}, counting(0)).length == 12);
    CHECK(index.longest({}, counting(0, 3)).length == 3);
    CHECK(index.longest({}, full).page == 0);
    CHECK(index.longest({}, counting(99)).page == kNoPage);
    CHECK(index.longest({}, {}).page == kNoPage);

    CHECK(index.covered(1));
    CHECK_FALSE(index.covered(2));
    CHECK_FALSE(index.covered(0));
    // What is behind a page that is not full is nowhere.
    index.publish(4, {2, 0}, counting(0));
    CHECK(index.length(4) == 0);
    CHECK(index.find({2, 0}, counting(0)) == kNoPage);
  }
}

TEST_CASE("behind a page that went nothing is found, even when its number is used again (K4)") {
  for (const PrefixIndex::Hash hash : {&PrefixIndex::mix, &zero}) {
    PrefixIndex index = index_with(hash);
    index.publish(0, {}, counting(0));
    index.publish(1, {0, 0}, counting(100));
    index.erase(0);
    index.erase(0);
    CHECK(index.length(0) == 0);
    CHECK(index.find({}, counting(0)) == kNoPage);
    CHECK(index.find({0, 0}, counting(100)) == kNoPage);
    index.publish(0, {}, counting(5));
    CHECK(index.find({0, 0}, counting(100)) == kNoPage);
    index.erase(0);
    index.publish(0, {}, counting(0));
    CHECK(index.find({0, 0}, counting(100)) == kNoPage);
    CHECK(index.longest({0, 0}, counting(100)).page == kNoPage);
  }
}

TEST_CASE("an index that grows keeps what it knows") {
  const auto place = [](PageId page) { return PagePlace{page % 7 == 0 ? kNoPage : page - 1, 3}; };
  PrefixIndex index;
  for (PageId page = 0; page < 300; ++page) {
    if (page % 10 == 0) index.resize(page + 10);
    index.publish(page, place(page), counting(page));
  }
  for (PageId page = 0; page < 300; ++page) {
    INFO("page " << page);
    CHECK(index.find(place(page), counting(page)) == page);
    CHECK(index.longest(place(page), counting(page, 4)).page == page);
  }
}
