// LoopDetector against its definition, on real loops, and on texts that only look like loops.
#include "libr1/engine/loop_detector.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <string>
#include <vector>

using namespace r1;
using engine::kAnswerLoop;
using engine::kThoughtLoop;
using engine::LoopDetector;
using engine::LoopRule;

namespace {

/// Tokens at which a loop is seen; -1 when there is none.
std::int64_t first_loop(const std::vector<TokenId>& ids, const LoopRule& rule) {
  LoopDetector detector(rule);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (detector.feed(ids[i])) return static_cast<std::int64_t>(i) + 1;
  }
  return -1;
}

/// A token for each character, as models do with digits and rare characters, or for each word with
/// the blank before it.
std::vector<TokenId> tokens_of(const std::string& text, bool words) {
  std::map<std::string, TokenId> known;
  std::vector<TokenId> ids;
  std::string token;
  const auto flush = [&] {
    if (token.empty()) return;
    ids.push_back(known.emplace(token, static_cast<TokenId>(known.size())).first->second);
    token.clear();
  };
  for (const char c : text) {
    const bool continues = (c & '\xC0') == '\x80';
    const bool letter = words && std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (!continues && !letter) flush();
    token += c;
    if (words && !letter && !continues && c != ' ') flush();
  }
  flush();
  return ids;
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string counting(int from, int to, const std::string& between) {
  std::string text;
  for (int i = from; i <= to; ++i) text += std::to_string(i) + between;
  return text;
}

std::string table() {
  std::string text = "| n | square | even |\n|" + repeat("---------------|", 3) + "\n";
  for (int i = 1; i <= 60; ++i) {
    text += "| " + std::to_string(i) + " | " + std::to_string(i * i) + " | " +
            (i % 2 == 0 ? "yes" : "no") + " |\n";
  }
  return text;
}

std::string code() {
  std::string text = "class Form {\n public:\n  Form() {\n";
  for (const char* field : {"name", "street", "town", "phone", "mail", "age", "size", "colour"}) {
    text += std::string("    if (") + field +
            "_ == nullptr) {\n      return;\n    }\n    count_ += 1;\n    count_ += 1;\n";
  }
  return text + repeat("    push(0);\n", 12) + repeat("  }\n", 3) + "};\n";
}

std::string matrix(int size) { return repeat("[" + repeat("0, ", size - 1) + "0],\n", size); }

std::vector<std::string> harmless() {
  const std::string chorus =
      "Row, row, row your boat,\nGently down the stream,\nMerrily, merrily, merrily, "
      "merrily,\nLife "
      "is but a dream.\n\n";
  return {
      counting(1, 200, "\n"),
      counting(1, 200, ", "),
      table(),
      code(),
      matrix(8),
      "1" + repeat("0", 100),
      repeat("=", 120) + "\nTitle\n" + repeat("=", 120),
      repeat(" ", 200) + "x",
      repeat(chorus, 3),
      repeat("哈", 60) + "，" + repeat("笑", 60),
      "1/7 = 0." + repeat("142857", 30) + "...",
      counting(1, 99, " bottles of beer on the wall. Take one down and pass it around.\n"),
      // A loop with a counter in it is none: every round says something new.
      counting(1, 300, ". Wait, let me check that again from the start.\n"),
  };
}

}  // namespace

TEST_CASE("loop detector: the definition, on random sequences with planted loops",
          "[engine][loop]") {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const LoopRule rule{2 + static_cast<std::int64_t>(random() % 4),
                        static_cast<std::int64_t>(random() % 80)};
    const auto alphabet = 1 + random() % 6;
    std::vector<TokenId> ids;
    LoopDetector detector(rule);
    std::int64_t planted = 0, period = 1;
    for (std::int64_t n = 1; n <= 700; ++n) {
      if (planted == 0 && random() % 40 == 0) {
        period = 1 + static_cast<std::int64_t>(random() % 60);
        planted = period * (2 + static_cast<std::int64_t>(random() % 5));
      }
      const bool copies = planted > 0 && n > period;
      if (planted > 0) --planted;
      ids.push_back(copies ? ids[static_cast<std::size_t>(n - 1 - period)]
                           : static_cast<TokenId>(random() % alphabet));
      bool expected = false;
      for (std::int64_t p = 1; p <= LoopDetector::kPeriodMax && !expected; ++p) {
        const std::int64_t length = std::max(rule.tokens, rule.repeats * p);
        if (length > n) continue;
        expected = true;
        for (std::int64_t i = n - 1; i >= n - length + p && expected; --i) {
          expected = ids[static_cast<std::size_t>(i)] == ids[static_cast<std::size_t>(i - p)];
        }
      }
      if (detector.feed(ids.back()) != expected) {
        FAIL("round " << round << ", token " << n << ": expected " << expected);
      }
    }
  }
  SUCCEED("every token agreed");
}

TEST_CASE("loop detector: real loops of every period are found in time", "[engine][loop]") {
  std::mt19937 random(4);
  const LoopRule rule = GENERATE(kThoughtLoop, kAnswerLoop);
  for (const std::int64_t period : {1, 2, 3, 7, 16, 63, 64, 65, 127, 128, 129, 300, 511, 512}) {
    CAPTURE(period, rule.tokens);
    std::vector<TokenId> ids;
    for (int i = 0; i < 3000; ++i) ids.push_back(static_cast<TokenId>(random() % 150000));
    const auto begin = static_cast<std::int64_t>(ids.size());
    for (std::int64_t i = 0; i < 5 * 600; ++i) {
      ids.push_back(i < period ? static_cast<TokenId>(200000 + i)
                               : ids[ids.size() - static_cast<std::size_t>(period)]);
    }
    CHECK(first_loop(ids, rule) == begin + std::max(rule.tokens, rule.repeats * period));
  }
  std::vector<TokenId> beyond;
  for (int i = 0; i < 6000; ++i) beyond.push_back(i % 513);
  CHECK(first_loop(beyond, rule) == -1);
}

TEST_CASE("loop detector: a paragraph said again and again", "[engine][loop]") {
  const std::string paragraph =
      "Wait, let me check that. 35 heads and 94 feet: if all were chickens there would be 70 feet. "
      "So 24 more, 12 rabbits. 等等，让我再检查一遍。\n\n";
  for (const bool words : {false, true}) {
    const auto ids = tokens_of("So the answer is 23.\n\n" + repeat(paragraph, 20), words);
    CHECK(first_loop(ids, kThoughtLoop) > 0);
    CHECK(first_loop(ids, kAnswerLoop) > 0);
  }
}

TEST_CASE("loop detector: texts that only look like loops", "[engine][loop]") {
  for (const std::string& text : harmless()) {
    INFO(text.substr(0, 60));
    for (const bool words : {false, true}) {
      CHECK(first_loop(tokens_of(text, words), kThoughtLoop) == -1);
      CHECK(first_loop(tokens_of(text, words), kAnswerLoop) == -1);
    }
  }
  CHECK(first_loop(tokens_of(matrix(12), false), kAnswerLoop) == -1);
}

TEST_CASE("loop detector: reset forgets", "[engine][loop]") {
  LoopDetector detector(kThoughtLoop);
  for (int i = 0; i < 255; ++i) REQUIRE_FALSE(detector.feed(5));
  detector.reset(kThoughtLoop);
  for (int i = 0; i < 255; ++i) REQUIRE_FALSE(detector.feed(5));
  CHECK(detector.feed(5));
  CHECK(detector.feed(5));
  CHECK_FALSE(detector.feed(6));
}
