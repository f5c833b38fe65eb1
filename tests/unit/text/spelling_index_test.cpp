// SpellingIndex against a search from the front.
#include "libr1/text/spelling_index.hpp"

#include <catch2/catch.hpp>
#include <random>

namespace r1::text {
namespace {

TokenId search(const std::vector<std::string>& spellings, const std::vector<TokenKind>& kinds,
               const std::string& wanted) {
  for (std::size_t i = 0; i < spellings.size(); ++i) {
    if (kinds[i] == TokenKind::normal && spellings[i] == wanted) return static_cast<TokenId>(i);
  }
  return -1;
}

}  // namespace

TEST_CASE("nothing is found in an empty vocabulary", "[spelling_index]") {
  const SpellingIndex index({}, {});
  CHECK(index.find("") == -1);
  CHECK(index.find("a") == -1);
}

TEST_CASE("the first normal token of a spelling is found, others are not", "[spelling_index]") {
  // Short words over two letters and a zero byte: many are there twice, many are not there.
  std::mt19937 random(1);
  const auto word = [&] {
    std::string out;
    for (std::size_t length = random() % 7; out.size() < length;) out += "ab\0"[random() % 3];
    return out;
  };
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> spellings;
    std::vector<TokenKind> kinds;
    for (std::size_t count = random() % 300; spellings.size() < count;) {
      spellings.push_back(word());
      kinds.push_back(static_cast<TokenKind>(1 + random() % 3));
    }
    const SpellingIndex index(spellings, kinds);
    for (int i = 0; i < 300; ++i) {
      const std::string wanted = word();
      REQUIRE(index.find(wanted) == search(spellings, kinds, wanted));
    }
  }
}

}  // namespace r1::text
