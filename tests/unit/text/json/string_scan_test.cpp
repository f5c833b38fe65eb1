// The scanner against nlohmann/json: what it closes is a string, what is a string it closes.
#include "libr1/text/json/string_scan.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

using r1::text::json::StringScan;

namespace {

// The state after `inside`, or broken.
StringScan scan(const std::string& inside) {
  StringScan state = StringScan::boundary;
  for (const char byte : inside) {
    if (state == StringScan::closed || state == StringScan::broken) return StringScan::broken;
    state = advance(state, static_cast<std::uint8_t>(byte));
  }
  return state;
}

// A zero byte is the end of the input for nlohmann/json; the standard forbids it in a string.
bool is_string(const std::string& inside) {
  return inside.find('\0') == std::string::npos && nlohmann::json::accept('"' + inside + '"');
}

}  // namespace

TEST_CASE("string scan: every string of one and two bytes") {
  for (int a = 0; a < 256; ++a) {
    const std::string one(1, static_cast<char>(a));
    REQUIRE((scan(one) == StringScan::boundary) == (is_string(one) && one != "\""));
    for (int b = 0; b < 256; ++b) {
      const std::string two = one + static_cast<char>(b);
      INFO(a << ' ' << b);
      REQUIRE((scan(two) == StringScan::boundary) == is_string(two));
    }
  }
}

TEST_CASE("string scan: random bytes, escapes and characters") {
  const std::string pieces[] = {"a",        "\"",   "\\",       "\\n",     "\\u",      "d83d",
                                "\\uD83D",  "DE00", "\\uDE00",  "\\ud7ff", "00e9",     "\xC3",
                                "\xA9",     "\xED", "\x9F\xBF", "\xA0",    "\xF0\x9F", "\x98\x80",
                                "\xF4\x8F", "\x90", "\x80\x80", "\xE0",    "\x1F",     "\x7F",
                                "/",        "\\/",  "鸡",       "\xC0",    "\\u0041",  "f"};
  std::mt19937_64 random(2);
  int valid = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (auto i = random() % 5; i > 0; --i) text += pieces[random() % std::size(pieces)];
    const bool expected = is_string(text);
    valid += expected ? 1 : 0;
    INFO(text);
    REQUIRE((scan(text) == StringScan::boundary) == expected);
    if (expected) REQUIRE(scan(text + '"') == StringScan::closed);
  }
  REQUIRE(valid > 1000);
}

TEST_CASE("string scan: nothing goes on after a dead end, everything else does") {
  // From a state that is not broken some string closes: ends tried are all that a state can need.
  const std::string ends[] = {
      "\"",      "\x80\"", "\x80\x80\"", "\x90\x80\x80\"", "n\"",        "0\"",
      "00\"",    "000\"",  "0000\"",     "\\udc00\"",      "0\\udc00\"", "00\\udc00\"",
      "udc00\"", "dc00\"", "c00\"",      "\xA0\x80\"",     "\x90\x80\"", "\x8F\x80\x80\""};
  std::mt19937_64 random(3);
  const std::string bytes = "\\\\\\uuudDc08fn\xE0\xED\xF0\xF4\xC3\xE4\xF1\xA0\x80\x90";
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    for (auto i = random() % 9; i > 0; --i) text += bytes[random() % bytes.size()];
    bool closes = false;
    for (const std::string& end : ends)
      closes = closes || is_string(text + end.substr(0, end.size() - 1));
    INFO(text);
    REQUIRE((scan(text) != StringScan::broken) == closes);
  }
}
