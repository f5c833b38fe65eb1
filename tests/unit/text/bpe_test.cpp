// Merging against a naive encoder that follows the definition step by step.
#include "libr1/text/bpe.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

namespace r1::text {
namespace {

std::array<TokenId, 256> all_bytes() {
  std::array<TokenId, 256> ids{};
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i);
  return ids;
}

std::vector<TokenId> encode(const Bpe& bpe, std::string_view word) {
  Bpe::Scratch scratch;
  std::vector<TokenId> out;
  bpe.encode(word, scratch, out);
  return out;
}

/// As Sennrich et al. (2016) and Hugging Face define it: merge the pair of lowest rank, the
/// leftmost of equal ones, until no rule applies. Quadratic.
std::vector<TokenId> encode_naively(const std::vector<BpeMerge>& merges, std::string_view word) {
  std::map<std::pair<TokenId, TokenId>, std::size_t> ranks;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    ranks[{merges[rank].left, merges[rank].right}] = rank;
  }
  std::vector<TokenId> ids;
  for (const char c : word) ids.push_back(static_cast<unsigned char>(c));
  while (true) {
    std::size_t best_rank = merges.size();
    std::size_t best = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const auto found = ranks.find({ids[i], ids[i + 1]});
      if (found == ranks.end() || found->second >= best_rank) continue;
      best_rank = found->second;
      best = i;
    }
    if (best_rank == merges.size()) return ids;
    ids[best] = merges[best_rank].result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

}  // namespace

TEST_CASE("the lowest rank merges first, then the leftmost", "[bpe]") {
  // b c before a b; x x from the left.
  const Bpe bpe(all_bytes(), {{'b', 'c', 300}, {'a', 'b', 301}, {'x', 'x', 302}, {'a', 300, 303}});
  CHECK(encode(bpe, "abc") == std::vector<TokenId>{303});
  CHECK(encode(bpe, "ab") == std::vector<TokenId>{301});
  CHECK(encode(bpe, "abab") == std::vector<TokenId>{301, 301});
  CHECK(encode(bpe, "xxx") == std::vector<TokenId>{302, 'x'});
  CHECK(encode(bpe, "q") == std::vector<TokenId>{'q'});
  CHECK(encode(bpe, "").empty());
}

TEST_CASE("no rules: every byte is its token", "[bpe]") {
  const Bpe bpe(all_bytes(), {});
  CHECK(encode(bpe, "a\xFF") == std::vector<TokenId>{'a', 0xFF});
}

TEST_CASE("bytes without a token are left out and their neighbours merge", "[bpe]") {
  auto ids = all_bytes();
  ids['-'] = -1;
  const Bpe bpe(ids, {{'a', 'b', 300}});
  CHECK(encode(bpe, "a-b") == std::vector<TokenId>{300});
  CHECK(encode(bpe, "---").empty());
}

TEST_CASE("of a rule given twice the later rank holds", "[bpe]") {
  const Bpe bpe(all_bytes(), {{'b', 'c', 300}, {'a', 'b', 301}, {'b', 'c', 300}});
  CHECK(encode(bpe, "abc") == std::vector<TokenId>{301, 'c'});
}

TEST_CASE("random rules and words give what the naive encoder gives", "[bpe]") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> spelled;
    std::map<std::string, TokenId> by_spelling;
    for (int i = 0; i < 256; ++i) spelled.emplace_back(1, static_cast<char>(i));
    const std::string letters = round % 2 == 0 ? "ab" : "abcd";
    std::vector<TokenId> known(letters.begin(), letters.end());
    std::vector<BpeMerge> merges;
    for (int i = 0; i < 40; ++i) {
      const TokenId left = known[random() % known.size()];
      const TokenId right = known[random() % known.size()];
      const std::string joined =
          spelled[static_cast<std::size_t>(left)] + spelled[static_cast<std::size_t>(right)];
      // One spelling, one id, as in real vocabularies, even where several rules lead to it.
      const auto [entry, fresh] = by_spelling.emplace(joined, static_cast<TokenId>(spelled.size()));
      if (fresh) {
        spelled.push_back(joined);
        known.push_back(entry->second);
      }
      merges.push_back({left, right, entry->second});
    }
    const Bpe bpe(all_bytes(), merges);
    for (int i = 0; i < 50; ++i) {
      std::string word;
      for (std::size_t length = random() % 60; word.size() < length;) {
        word += letters[random() % letters.size()];
      }
      INFO("round " << round << ", word " << word);
      CHECK(encode(bpe, word) == encode_naively(merges, word));
    }
  }
}

TEST_CASE("a word of four million bytes", "[bpe]") {
  const Bpe bpe(all_bytes(), {{'a', 'a', 300}, {300, 300, 301}});
  const auto ids = encode(bpe, std::string(4000000, 'a'));
  CHECK((ids == std::vector<TokenId>(1000000, 301)));
}

}  // namespace r1::text
