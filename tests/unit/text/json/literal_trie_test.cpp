// LiteralTrie against a list of strings.
#include "libr1/text/json/literal_trie.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

using r1::text::json::LiteralTrie;

TEST_CASE("literal trie: places are prefixes") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> literals(random() % 12);
    for (std::string& literal : literals) {
      for (auto i = random() % 5; i > 0; --i) literal += "ab\xFF"[random() % 3];
    }
    const LiteralTrie trie(literals);
    REQUIRE(trie.empty() == literals.empty());
    for (int probe = 0; probe < 60; ++probe) {
      std::string text;
      for (auto i = random() % 6; i > 0; --i) text += "ab\xFF"[random() % 3];
      std::uint32_t place = 0;
      for (const char byte : text) place = trie.next(place, static_cast<std::uint8_t>(byte));
      std::set<std::string> under;
      for (const std::string& literal : literals) {
        if (literal.starts_with(text)) under.insert(literal);
      }
      INFO(text);
      const auto found = std::find(literals.begin(), literals.end(), text);
      REQUIRE(trie.contains(text) == (found != literals.end()));
      if (under.empty()) {
        REQUIRE((literals.empty() || place == LiteralTrie::kNone));
        continue;
      }
      std::set<std::string> listed;
      for (const std::uint32_t index : trie.literals_under(place)) listed.insert(literals[index]);
      REQUIRE(listed == under);
      REQUIRE(trie.is_leaf(place) == (under.size() == 1 && *under.begin() == text));
      if (found != literals.end()) {
        REQUIRE(trie.literal_at(place) == static_cast<std::uint32_t>(found - literals.begin()));
      } else {
        REQUIRE(trie.literal_at(place) == LiteralTrie::kNone);
      }
    }
  }
}
