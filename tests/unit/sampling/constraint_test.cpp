// Masks against trying every token, walks through the mask against a schema checker that shares
// nothing with the library, and documents cut into tokens at random.
#include "libr1/sampling/constraint.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "libr1/gguf/reader.hpp"
#include "libr1/sampling/chain.hpp"
#include "libr1/text/tokenizer.hpp"
#include "tests/support/random_schema.hpp"
#include "tests/support/schema_check.hpp"

using nlohmann::ordered_json;
using r1::TokenId;
using r1::sampling::Constraint;
using r1::sampling::ConstraintState;
using r1::sampling::TokenTrie;

namespace {

using Tokens = std::shared_ptr<const TokenTrie>;

constexpr TokenId kEnd = 256;

// All bytes, an end, and words that cross every border there is.
Tokens small_tokens() {
  std::vector<std::string> words;
  for (int byte = 0; byte < 256; ++byte) words.emplace_back(1, static_cast<char>(byte));
  words.emplace_back();
  for (const char* word : {"{\"",      "\":",     "\": ",     "\",\"",
                           "\", \"",   "\"}",     "\"]",      "}}",
                           "]}",       "},{",     "\n  ",     "\n    ",
                           ",\n",      "[[",      "],[",      "[]",
                           "{}",       "true",    "false",    "null",
                           "tr",       "ue",      "name",     "\"name\":",
                           "12",       "0.5",     "-1",       "1,",
                           "0}",       "e1",      "abc",      "abcdefghijklmnopqrstuvwxyz",
                           "é",        "\xC3",    "\xA9x",    "鸡兔",
                           "\xE9\xB8", "\xA1\"",  "\\n",      "\\\"",
                           "\\u00",    "\\ud83d", "a\\",      "x\",",
                           "x\":1",    "  ",      "   ",      "\n\n",
                           "a",        "open",    "\"open\"", "EUR\""}) {
    words.emplace_back(word);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string word;
    for (auto n = 2 + random() % 4; n > 0; --n) word += "ab1 \"\\{}[],:é\n"[random() % 15];
    words.push_back(word);
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  return std::make_shared<const TokenTrie>(views, std::vector<TokenId>{kEnd});
}

Tokens qwen_tokens() {
  const auto file =
      r1::gguf::Reader::open(std::string(R1_TEST_DATA) + "/tokenizer/qwen2-vocab.gguf");
  return TokenTrie::from_tokenizer(*r1::text::Tokenizer::from_gguf(file, nullptr));
}

std::vector<TokenId> ids_of(std::span<const std::uint64_t> mask) {
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < mask.size() * 64; ++i) {
    if ((mask[i / 64] >> (i % 64) & 1) != 0) ids.push_back(static_cast<TokenId>(i));
  }
  return ids;
}

bool in_string(const std::string& document) {
  bool inside = false;
  for (std::size_t i = 0; i < document.size(); ++i) {
    if (inside && document[i] == '\\') {
      ++i;
    } else if (document[i] == '"') {
      inside = !inside;
    }
  }
  return inside;
}

// How near a token brings the end: less is nearer.
std::size_t distance(std::string_view spelling, bool inside) {
  static const std::string kOrder = "}]\"0a1234567893:\\u\xA0\x90\x80";
  if (spelling.size() != 1) return 1000;
  if (spelling[0] == ',' || spelling[0] == ' ' || spelling[0] == '\n') return 900;
  if (inside && spelling[0] == '"') return 0;
  if (inside && (spelling[0] == '}' || spelling[0] == ']')) return 800;
  const std::size_t place = kOrder.find(spelling[0]);
  return place == std::string::npos ? 500 : place + 1;
}

enum class Taste { any, longest, shortest };

// Follows the mask to the end.
std::string walk(std::mt19937_64& random, ConstraintState& state, const TokenTrie& tokens,
                 Taste taste, int length) {
  std::string document;
  for (int step = 0; step < 3000; ++step) {
    const std::vector<TokenId> ids = ids_of(state.allowed());
    REQUIRE(!ids.empty());
    const bool end =
        std::any_of(ids.begin(), ids.end(), [&](TokenId id) { return tokens.is_end(id); });
    REQUIRE(end == state.complete());
    if (state.must_end()) {
      REQUIRE(std::all_of(ids.begin(), ids.end(), [&](TokenId id) { return tokens.is_end(id); }));
    }
    if (end && (step >= length || ids.size() == 1)) return document;
    const bool inside = in_string(document);
    const auto size = [&](TokenId id) { return tokens.spelling(id).size(); };
    TokenId chosen = ids[random() % ids.size()];
    if (step >= length) {
      chosen = *std::min_element(ids.begin(), ids.end(), [&](TokenId a, TokenId b) {
        return distance(tokens.spelling(a), inside) < distance(tokens.spelling(b), inside);
      });
    } else if (taste != Taste::any) {
      std::vector<TokenId> best;
      for (const TokenId id : ids) {
        if (tokens.is_end(id)) continue;
        const bool better = best.empty() || (taste == Taste::longest ? size(id) > size(best[0])
                                                                     : size(id) < size(best[0]));
        if (better) best.clear();
        if (better || size(id) == size(best[0])) best.push_back(id);
      }
      if (!best.empty()) chosen = best[random() % best.size()];
    }
    if (tokens.is_end(chosen)) return document;
    document += tokens.spelling(chosen);
    INFO(document);
    REQUIRE(state.accept(chosen));
  }
  FAIL("no end: " << document);
  return document;
}

void check_walks(std::mt19937_64& random, const Tokens& tokens, const std::string& text, int rounds,
                 int length) {
  const ordered_json schema = ordered_json::parse(text);
  const auto constraint = Constraint::from_schema(tokens, text);
  INFO(text);
  for (int i = 0; i < rounds; ++i) {
    for (const Taste taste : {Taste::any, Taste::longest, Taste::shortest}) {
      ConstraintState state(constraint);
      const std::string document = walk(random, state, *tokens, taste,
                                        static_cast<int>(random() % static_cast<unsigned>(length)));
      INFO(document);
      REQUIRE(ordered_json::accept(document));
      REQUIRE(r1::support::satisfies(schema, schema, ordered_json::parse(document)));
    }
  }
}

}  // namespace

TEST_CASE("constraint: a mask holds the tokens that can be taken, and no other") {
  std::mt19937_64 random(1);
  const Tokens tokens = small_tokens();
  for (int round = 0; round < 60; ++round) {
    const ordered_json schema =
        round < 5 ? ordered_json::parse(r1::support::named_schema(
                        r1::support::kNamedSchemas[static_cast<std::size_t>(round)]))
                  : r1::support::random_schema(random, 3);
    ConstraintState state(Constraint::from_schema(tokens, schema.dump()));
    std::string document;
    for (int step = 0; step < 40; ++step) {
      const std::vector<TokenId> ids = ids_of(state.allowed());
      std::vector<TokenId> taken;
      for (TokenId id = 0; id < static_cast<TokenId>(tokens->size()); ++id) {
        ConstraintState copy = state;
        if (copy.accept(id)) taken.push_back(id);
      }
      INFO(schema.dump() << '\n' << document);
      REQUIRE(ids == taken);
      const TokenId chosen = ids[random() % ids.size()];
      if (chosen == kEnd) break;
      document += tokens->spelling(chosen);
      REQUIRE(state.accept(chosen));
    }
  }
}

TEST_CASE("constraint: every walk ends in a document that satisfies the schema") {
  std::mt19937_64 random(2);
  const Tokens tokens = small_tokens();
  for (const std::string& name : r1::support::kNamedSchemas) {
    check_walks(random, tokens, r1::support::named_schema(name), 20, 150);
  }
  for (int round = 0; round < 100; ++round) {
    check_walks(random, tokens, r1::support::random_schema(random, 3).dump(), 1, 60);
  }
}

TEST_CASE("constraint: walks over Qwen2's vocabulary") {
  std::mt19937_64 random(3);
  const Tokens tokens = qwen_tokens();
  REQUIRE(tokens->size() == 151936);
  for (const std::string& name : r1::support::kNamedSchemas) {
    check_walks(random, tokens, r1::support::named_schema(name), 1, 60);
  }
}

TEST_CASE("constraint: a valid document passes however it is cut into tokens") {
  std::mt19937_64 random(4);
  const Tokens tokens = small_tokens();
  for (int round = 0; round < 300; ++round) {
    const ordered_json schema = r1::support::random_schema(random, 3);
    const std::string document = r1::support::random_document(random, schema, schema);
    ConstraintState state(Constraint::from_schema(tokens, schema.dump()));
    for (std::size_t at = 0; at < document.size();) {
      std::vector<TokenId> fitting;
      for (TokenId id = 0; id < static_cast<TokenId>(tokens->size()); ++id) {
        const std::string_view spelling = tokens->spelling(id);
        if (!spelling.empty() && document.compare(at, spelling.size(), spelling) == 0)
          fitting.push_back(id);
      }
      const auto mask = state.allowed();
      for (const TokenId id : fitting) {
        const auto bit = static_cast<std::size_t>(id);
        INFO(schema.dump() << '\n' << document << " at " << at << ": " << tokens->spelling(id));
        REQUIRE((mask[bit / 64] >> (bit % 64) & 1) == 1);
      }
      const TokenId chosen = fitting[random() % fitting.size()];
      REQUIRE(state.accept(chosen));
      at += tokens->spelling(chosen).size();
    }
    REQUIRE(state.complete());
  }
}

TEST_CASE("constraint: what is not allowed changes nothing") {
  const Tokens tokens = small_tokens();
  ConstraintState state(Constraint::any_object(tokens));
  const auto before = ids_of(state.allowed());
  CHECK_FALSE(state.accept('['));
  CHECK_FALSE(state.accept(kEnd));
  CHECK_FALSE(state.accept(-1));
  CHECK_FALSE(state.accept(1'000'000));
  CHECK(ids_of(state.allowed()) == before);
  CHECK(state.accept('{'));
  CHECK(state.accept('}'));
  CHECK(state.must_end());
  CHECK(state.accept(kEnd));
  CHECK(ids_of(state.allowed()) == std::vector<TokenId>{kEnd});
}

TEST_CASE("constraint: the chain draws from the mask alone") {
  std::mt19937_64 random(5);
  constexpr std::size_t kVocab = 300;
  const auto all = std::make_shared<const std::vector<bool>>(kVocab, true);
  for (int round = 0; round < 400; ++round) {
    r1::sampling::Params params;
    params.temperature = round % 2 == 0 ? 0.0F : 0.8F;
    params.top_p = 0.9F;
    params.seed = random();
    std::vector<float> logits(kVocab);
    for (float& logit : logits) logit = std::normal_distribution<float>(0, 3)(random);
    std::vector<std::uint64_t> mask((kVocab + 63) / 64);
    for (int i = 0; i < 20; ++i)
      mask[random() % mask.size()] |= std::uint64_t{1} << (random() % 44);
    std::vector<float> left = logits;
    for (std::size_t id = 0; id < kVocab; ++id) {
      if ((mask[id / 64] >> (id % 64) & 1) == 0) left[id] = -INFINITY;
    }
    // The mask is the same as logits that were never there, whatever the bias says.
    params.logit_bias = {{static_cast<TokenId>(random() % kVocab), 1e30F}};
    r1::sampling::Chain masked(params, all);
    r1::sampling::Chain plain(params, all);
    CHECK(masked.choose(logits, {}, mask).id == plain.choose(left, {}).id);
    CHECK(masked.choose(logits, {}).id == plain.choose(logits, {}).id);
  }
  r1::sampling::Chain chain({}, all);
  const std::vector<float> logits(kVocab, 1.0F);
  const std::vector<std::uint64_t> none((kVocab + 63) / 64, 0);
  CHECK_FALSE(chain.choose(logits, {}, none).finite);
  CHECK(chain.choose(logits, {}, std::vector<std::uint64_t>{std::uint64_t{1} << 7}).id == 7);
}
