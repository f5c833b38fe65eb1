// GPT-2's byte alphabet.
#include "libr1/text/byte_alphabet.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "libr1/text/utf8.hpp"

namespace r1::text {

TEST_CASE("the alphabet is that of GPT-2's encoder.py", "[byte_alphabet]") {
  // bytes_to_unicode: printable bytes stand for themselves, the rest are numbered from 256 in byte
  // order.
  char32_t next = 256;
  for (int i = 0; i < 256; ++i) {
    const bool printable =
        (i >= '!' && i <= '~') || (i >= 0xA1 && i <= 0xAC) || (i >= 0xAE && i <= 0xFF);
    const char32_t expected = printable ? static_cast<char32_t>(i) : next++;
    CHECK(byte_to_letter(static_cast<std::uint8_t>(i)) == expected);
    std::string letter;
    append_utf8(letter, expected);
    CHECK(bytes_of_spelling(letter) == std::string(1, static_cast<char>(i)));
  }
}

TEST_CASE("spellings turn into bytes", "[byte_alphabet]") {
  CHECK(bytes_of_spelling("Ġhello") == " hello");
  CHECK(bytes_of_spelling("ĊĊ") == "\n\n");
  CHECK(bytes_of_spelling("ä¸Ń") == "中");
  CHECK(bytes_of_spelling("") == "");
}

TEST_CASE("characters outside the alphabet are refused", "[byte_alphabet]") {
  for (const char* spelling :
       {"a b", "中", "\n", "a\u00A0", "\u00AD", "\u0144", "\xFF", "<｜User｜>"}) {
    INFO(spelling);
    CHECK_FALSE(bytes_of_spelling(spelling).has_value());
  }
}

}  // namespace r1::text
