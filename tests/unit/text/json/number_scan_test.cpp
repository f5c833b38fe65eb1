// Numbers against nlohmann/json and against counting.
#include "libr1/text/json/number_scan.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

using r1::text::json::Frame;
using r1::text::json::Number;

namespace {

enum class Result { dead, open, whole };

Result scan(const Number& number, const std::string& text) {
  Frame frame;
  for (const char byte : text) {
    if (!advance(number, frame, static_cast<std::uint8_t>(byte))) return Result::dead;
  }
  return is_whole(number, frame) ? Result::whole : Result::open;
}

}  // namespace

TEST_CASE("number scan: what is whole is a JSON number, short numbers are all there") {
  std::mt19937_64 random(1);
  int whole = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (auto i = 1 + random() % 7; i > 0; --i) text += "0123.eE+-"[random() % 9];
    // Three digits of an exponent are the one thing that seven bytes can have too much of.
    const std::size_t e = text.find_first_of("eE");
    std::size_t digits = 0;
    for (std::size_t i = e; i < text.size(); ++i) digits += std::isdigit(text[i]) != 0 ? 1 : 0;
    const bool expected = nlohmann::json::accept(text) && digits <= 2;
    whole += expected ? 1 : 0;
    INFO(text);
    REQUIRE((scan({}, text) == Result::whole) == expected);
  }
  REQUIRE(whole > 1000);
}

TEST_CASE("number scan: digits are bounded") {
  CHECK(scan({}, std::string(18, '9')) == Result::whole);
  CHECK(scan({}, std::string(19, '9')) == Result::dead);
  CHECK(scan({}, "0." + std::string(18, '9') + "e-99") == Result::whole);
  CHECK(scan({}, "0." + std::string(19, '9')) == Result::dead);
  CHECK(scan({}, "1e100") == Result::dead);
  CHECK(scan({true}, std::string(18, '9')) == Result::whole);
  CHECK(scan({true}, std::string(19, '9')) == Result::dead);
}

TEST_CASE("number scan: integers within bounds, and prefixes of such only") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 60; ++round) {
    const auto low = static_cast<std::int64_t>(random() % 2400) - 1200;
    const std::int64_t high = low + static_cast<std::int64_t>(random() % 300);
    std::set<std::string> prefixes;
    for (std::int64_t value = low; value <= high; ++value) {
      const std::string text = std::to_string(value);
      for (std::size_t i = 0; i <= text.size(); ++i) prefixes.insert(text.substr(0, i));
    }
    const Number number{true, low, high};
    for (std::int64_t value = -3000; value <= 3000; ++value) {
      const std::string text = std::to_string(value);
      const Result result = scan(number, text);
      INFO(low << ".." << high << ": " << text);
      REQUIRE((result == Result::whole) == (value >= low && value <= high));
      REQUIRE((result != Result::dead) == prefixes.contains(text));
    }
    REQUIRE((scan(number, "-") != Result::dead) == (low < 0));
    REQUIRE(scan(number, "01") == Result::dead);
    REQUIRE(scan(number, "1.") == Result::dead);
  }
}
