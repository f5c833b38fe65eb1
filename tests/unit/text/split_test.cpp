// The split rule against Hugging Face's regex engine (reference.json) and on long runs.
#include "libr1/text/split.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/text/tokenizer_fixtures.hpp"

namespace r1::text {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t pos = 0; pos < text.size();) {
    const std::size_t end = word_end(text, pos);
    words.emplace_back(text.substr(pos, end - pos));
    pos = end;
  }
  return words;
}

}  // namespace

TEST_CASE("words equal those of the regular expression", "[split]") {
  const auto cases = tokenizer_data("reference.json").at("words");
  CHECK(cases.size() > 80);
  for (const auto& c : cases) {
    INFO(c.dump(-1, ' ', true));
    CHECK(words_of(c.at("text").get<std::string>()) ==
          c.at("words").get<std::vector<std::string>>());
  }
}

TEST_CASE("bytes that are not UTF-8 are symbols", "[split]") {
  using Words = std::vector<std::string>;
  CHECK(words_of("a\xFF") == Words{"a", "\xFF"});
  CHECK(words_of("\xFF"
                 "a") == Words{"\xFF"
                               "a"});
  CHECK(words_of(" \xFF\xFE\n1") == Words{" \xFF\xFE\n", "1"});
  CHECK(words_of("\xE4\xB8") == Words{"\xE4\xB8"});
  CHECK(words_of("1\xE4\xB8"
                 "2") == Words{"1", "\xE4\xB8", "2"});
}

TEST_CASE("long runs are one word", "[split]") {
  const std::size_t count = 1000000;
  const auto repeated = [](std::string_view unit) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += unit;
    return text;
  };
  for (const std::string_view unit : {"a", "中", " ", "'", "\u0301", "\n", " \n"}) {
    const std::string text = repeated(unit);
    INFO("unit of " << unit.size() << " bytes");
    CHECK(word_end(text, 0) == text.size());
  }
  // A blank run gives its last blank to the word after it.
  CHECK(word_end(repeated(" ") + "a", 0) == count - 1);
}

}  // namespace r1::text
