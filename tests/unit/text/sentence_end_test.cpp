// SentenceEnd: a table of texts in which | marks every place where a thought may be broken off, cut
// in every way.
#include "libr1/text/sentence_end.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using r1::text::SentenceEnd;

namespace {

const std::vector<std::string>& marked_texts() {
  static const std::vector<std::string> all = {
      "|One.| |Two!| |Three?| |Four",
      "|Line\n|Next",
      "|pi is 3.14, not 3. or .5 and 5! is 120.1",
      "|1. first\n|2. second\r|\n|",
      "|他想了想。|然后说：“好！|”|对吗？|对",
      "|He said \"yes.|\"| |(Really?|)| |**Sure.|*|*| |done",
      "|v2.0 costs ３.５",
      "|Wait.|.|.| |what",
      "|\n|\n|x",
      // It does not look ahead.
      "|a !|= b",
  };
  return all;
}

}  // namespace

TEST_CASE("sentence end: every place of a text", "[text][sentence]") {
  for (std::string marked : marked_texts()) {
    INFO(marked);
    // The text, and after how many of its bytes it may be broken off.
    std::string text;
    std::vector<bool> expected(1, false);
    for (const char c : marked) {
      if (c == '|') {
        expected.back() = true;
      } else {
        text += c;
        expected.push_back(false);
      }
    }
    for (std::size_t piece = 1; piece <= 5; ++piece) {
      SentenceEnd sentence;
      CHECK(sentence.at_end() == expected[0]);
      for (std::size_t pos = 0; pos < text.size(); pos += piece) {
        const std::string bytes = text.substr(pos, piece);
        sentence.feed(bytes);
        INFO(pos << " " << piece);
        CHECK(sentence.at_end() == expected[pos + bytes.size()]);
      }
    }
  }
}

TEST_CASE("sentence end: knows the start of a line", "[text][sentence]") {
  SentenceEnd sentence;
  CHECK_FALSE(sentence.at_line_start());
  sentence.feed("yes.\n");
  CHECK(sentence.at_line_start());
  sentence.feed(" ");
  CHECK_FALSE(sentence.at_line_start());
  CHECK(sentence.at_end());
}

TEST_CASE("sentence end: broken bytes are ordinary characters", "[text][sentence]") {
  SentenceEnd sentence;
  sentence.feed("\xFF.");
  CHECK(sentence.at_end());
  sentence.feed("\xE3\x80");
  CHECK_FALSE(sentence.at_end());
  sentence.feed("\xE3\x80\x82");
  CHECK(sentence.at_end());
}
