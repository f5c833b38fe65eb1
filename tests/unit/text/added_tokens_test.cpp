// Leftmost-longest search for added tokens.
#include "libr1/text/added_tokens.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

namespace r1::text {
namespace {

using Found = std::vector<std::pair<std::size_t, TokenId>>;

Found all(const AddedTokens& tokens, std::string_view text) {
  Found found;
  for (std::size_t pos = 0;;) {
    const auto match = tokens.find(text, pos);
    if (match.id < 0) {
      CHECK(match.begin == text.size());
      return found;
    }
    found.emplace_back(match.begin, match.id);
    pos = match.end;
  }
}

}  // namespace

TEST_CASE("the leftmost match wins, then the longest", "[added_tokens]") {
  AddedTokens tokens;
  tokens.add("ab", 1);
  tokens.add("abcd", 2);
  tokens.add("bcde", 3);
  tokens.add("c", 4);
  CHECK(all(tokens, "abc") == Found{{0, 1}, {2, 4}});
  CHECK(all(tokens, "abcde") == Found{{0, 2}});
  CHECK(all(tokens, "xbcde") == Found{{1, 3}});
  CHECK(all(tokens, "abab") == Found{{0, 1}, {2, 1}});
  CHECK(all(tokens, "bcd") == Found{{1, 4}});
  CHECK(all(tokens, "").empty());
  CHECK(all(tokens, "a").empty());
}

TEST_CASE("the first of equal spellings holds, empty ones never match", "[added_tokens]") {
  AddedTokens tokens;
  CHECK(all(tokens, "x").empty());
  tokens.add("", 9);
  tokens.add("x", 1);
  tokens.add("x", 2);
  tokens.add("中", 3);
  CHECK(all(tokens, "ax中x") == Found{{1, 1}, {2, 3}, {5, 1}});
}

TEST_CASE("random spellings are found as trying each one finds them", "[added_tokens]") {
  std::mt19937 random(3);
  const auto random_text = [&random](std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    AddedTokens tokens;
    std::map<std::string, TokenId> spellings;
    for (TokenId id = 0; id < 6; ++id) {
      const std::string spelling = random_text(1 + random() % 5);
      tokens.add(spelling, id);
      spellings.emplace(spelling, id);
    }
    const std::string text = random_text(40);
    Found expected;
    for (std::size_t pos = 0; pos < text.size();) {
      std::size_t longest = 0;
      TokenId id = -1;
      for (const auto& [spelling, its_id] : spellings) {
        if (spelling.size() <= longest || text.compare(pos, spelling.size(), spelling) != 0)
          continue;
        longest = spelling.size();
        id = its_id;
      }
      if (longest > 0) expected.emplace_back(pos, id);
      pos += longest > 0 ? longest : 1;
    }
    INFO(text);
    CHECK(all(tokens, text) == expected);
  }
}

}  // namespace r1::text
