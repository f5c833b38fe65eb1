// StopMatcher: the table of case G6, every way to cut the text, and a naive matcher as the
// reference.
#include "libr1/text/stop_matcher.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "r1/error.hpp"

using r1::text::StopMatcher;

namespace {

struct Outcome {
  std::string text;
  bool stopped;
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << '"' << outcome.text << '"' << (outcome.stopped ? " stopped" : "");
}

bool is_continuation(char byte) { return (byte & '\xC0') == '\x80'; }

// The definition, for valid UTF-8: the first end of any stop string; of those that end there the
// longest; cut before the character it starts in.
Outcome naive(const std::string& text, const std::vector<std::string>& stops) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string& stop : stops) {
      if (stop.size() <= end && text.compare(end - stop.size(), stop.size(), stop) == 0) {
        longest = std::max(longest, stop.size());
      }
    }
    if (longest == 0) continue;
    std::size_t start = end - longest;
    while (start > 0 && is_continuation(text[start])) --start;
    return {text.substr(0, start), true};
  }
  return {text, false};
}

bool is_whole_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (is_continuation(text[i]) || i + length > text.size()) return false;
    i += length;
  }
  return true;
}

// Feeds pieces that end after the bytes that `cut_after` names.
template <class CutAfter>
Outcome stream(const std::string& text, const std::vector<std::string>& stops, CutAfter cut_after) {
  StopMatcher matcher(stops);
  std::size_t longest = 0;
  for (const std::string& stop : stops) longest = std::max(longest, stop.size());
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    if (end < text.size() && !cut_after(end - 1)) continue;
    const bool was_stopped = matcher.stopped();
    const std::string piece = matcher.feed(std::string_view(text).substr(begin, end - begin));
    begin = end;
    REQUIRE(is_whole_utf8(piece));
    if (was_stopped) REQUIRE(piece.empty());
    out += piece;
    // Less than the longest stop string, and at most the head of a character before it.
    const std::size_t head = ascii ? 0 : 3;
    if (!matcher.stopped()) REQUIRE(end - out.size() <= (longest == 0 ? 0 : longest - 1) + head);
  }
  const bool stopped = matcher.stopped();
  out += matcher.finish();
  return {out, stopped};
}

const std::string kEmoji = "\xF0\x9F\x98\x80";

}  // namespace

TEST_CASE("the table of case G6, over all ways to cut a short text and many for a long one") {
  const std::string text = "foo END_OF_ANSWER bar";
  struct Row {
    std::vector<std::string> stops;
    Outcome expected;
  };
  const std::vector<Row> rows = {
      {{}, {text, false}},
      {{"D_OF"}, {"foo EN", true}},
      {{"END_OF_ANSWER!"}, {text, false}},
      {{"bar", "foo END"}, {"", true}},
      {{"bar"}, {"foo END_OF_ANSWER ", true}},
      {{"zzz", "WER", "ANSWERS", "_OF_A", "bar"}, {"foo END", true}},
      {{"bart"}, {text, false}},
      {{"r"}, {"foo END_OF_ANSWER ba", true}},
      {{"ER", "ANSWER"}, {"foo END_OF_", true}},
      {{"oo", "o"}, {"f", true}},
      {{text}, {"", true}},
      {{text + "x"}, {text, false}},
  };
  for (const Row& row : rows) {
    CHECK(naive(text, row.stops) == row.expected);
    for (std::uint64_t cuts = 0; cuts < std::uint64_t{1} << (text.size() - 1); cuts += 509) {
      const Outcome got =
          stream(text, row.stops, [&](std::size_t at) { return (cuts >> at) % 2 == 1; });
      if (!(got == row.expected)) FAIL(got << " for cuts " << cuts);
    }
    CHECK(stream(text, row.stops, [](std::size_t) { return true; }) == row.expected);
    CHECK(stream(text, row.stops, [](std::size_t) { return false; }) == row.expected);
  }
}

TEST_CASE("a stop string inside the bytes of a character cuts before the character") {
  const std::string text = "a" + kEmoji + "b\xC3\xA9z";
  const std::vector<std::vector<std::string>> stop_sets = {{"\x98"},
                                                           {"\x98\x80"},
                                                           {"\x9F\x98"},
                                                           {"\xF0\x9F"},
                                                           {kEmoji},
                                                           {"\x80"
                                                            "b"},
                                                           {"\x98\x81", "z"},
                                                           {"\x80"
                                                            "c"},
                                                           {"\xA9"},
                                                           {"\xC3"},
                                                           {"a\xF0"},
                                                           {"\x80"
                                                            "b\xC3"},
                                                           {"\xA9zz"},
                                                           {"\xF0\x9F\x98\x81"}};
  for (const std::vector<std::string>& stops : stop_sets) {
    const Outcome expected = naive(text, stops);
    CHECK(is_whole_utf8(expected.text));
    for (std::uint64_t cuts = 0; cuts < std::uint64_t{1} << (text.size() - 1); ++cuts) {
      const Outcome got =
          stream(text, stops, [&](std::size_t at) { return (cuts >> at) % 2 == 1; });
      if (!(got == expected)) FAIL(got << " instead of " << expected << " for cuts " << cuts);
    }
  }
  CHECK(naive(text, {"\x98"}) == Outcome{"a", true});
}

TEST_CASE("random texts and stop strings equal the naive matcher for all cuts") {
  std::mt19937 random(1);
  const std::vector<std::string> letters = {"a", "b", "\xC3\xA9", kEmoji};
  const auto word = [&](std::size_t length, std::size_t kinds) {
    std::string result;
    for (std::size_t i = 0; i < length; ++i) result += letters[random() % kinds];
    return result;
  };
  for (int round = 0; round < 3000; ++round) {
    const std::size_t kinds = 2 + random() % 3;
    const std::string text = word(1 + random() % 30, kinds);
    std::vector<std::string> stops;
    for (std::size_t i = random() % 5; i > 0; --i) {
      std::string stop = word(1 + random() % 8, kinds);
      const std::size_t begin = random() % stop.size();  // often starts or ends inside a character
      stop = stop.substr(begin, 1 + random() % (stop.size() - begin));
      stops.push_back(stop);
    }
    const Outcome expected = naive(text, stops);
    for (int cut = 0; cut < 8; ++cut) {
      const Outcome got = stream(
          text, stops, [&](std::size_t) { return random() % 8 < static_cast<unsigned>(cut); });
      if (!(got == expected)) FAIL(got << " instead of " << expected << " in " << text);
    }
  }
}

TEST_CASE("text is given out as soon as it is certain") {
  StopMatcher matcher({"STOP"});
  CHECK(matcher.feed("hello S") == "hello ");
  CHECK(matcher.feed("T") == "");
  CHECK(matcher.feed("ART ") == "START ");
  CHECK(matcher.feed("SST") == "S");
  CHECK(matcher.feed("") == "");
  CHECK(!matcher.stopped());
  CHECK(matcher.finish() == "ST");
  CHECK(StopMatcher().feed("any text") == "any text");
}

TEST_CASE("after a stop nothing comes, and finish() makes the matcher new") {
  StopMatcher matcher({"END"});
  CHECK(matcher.feed("abc END def") == "abc ");
  CHECK(matcher.stopped());
  CHECK(matcher.feed("more END") == "");
  CHECK(matcher.finish() == "");
  CHECK(!matcher.stopped());
  CHECK(matcher.feed("E") == "");
  CHECK(matcher.finish() == "E");
  // The E of the finished answer is not the start of a stop string in the next one.
  CHECK(matcher.feed("ND") == "ND");
  CHECK(!matcher.stopped());
}

TEST_CASE("an empty stop string is refused by name") {
  for (const std::vector<std::string>& stops :
       {std::vector<std::string>{""}, std::vector<std::string>{"a", ""}}) {
    try {
      StopMatcher matcher(stops);
      FAIL("accepted");
    } catch (const r1::Error& error) {
      CHECK(error.code() == r1::ErrorCode::invalid_argument);
      CHECK(std::string(error.what()) ==
            "stop: expected strings of at least one byte, got an empty one");
    }
  }
}

TEST_CASE("bytes that are not UTF-8 pass through unchanged") {
  for (const std::string text :
       {"\x80\x80\x80\x80\x80", "a\xFF\xFE", "\xC0\x80", "\xF8\x88\x80\x80\x80",
        "\xF0"
        "abc",
        "\xE4\xB8", "\xE4\xB8\xE4"}) {
    StopMatcher matcher({"STOP"});
    std::string out;
    for (const char byte : text) out += matcher.feed(std::string(1, byte));
    out += matcher.finish();
    CHECK(out == text);
  }
}

TEST_CASE(
    "thousands of long stop strings that share their start, and a text that keeps failing late") {
  std::vector<std::string> stops;
  for (int i = 0; i < 3000; ++i) stops.push_back(std::string(300, 'a') + std::to_string(i) + "!");
  StopMatcher matcher(stops);
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(299, 'a') + "b";
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 7)
    out += matcher.feed(std::string_view(text).substr(at, 7));
  CHECK(out == text);
  CHECK(matcher.feed(std::string(305, 'a')) == "aaaaa");
  CHECK(matcher.feed("2999") == "");
  CHECK(matcher.feed("!rest") == "");
  CHECK(matcher.stopped());
}
