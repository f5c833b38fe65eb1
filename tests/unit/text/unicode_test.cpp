// Character classes against utf8proc's categories, NFC against Hugging Face's (reference.json).
#include "libr1/text/unicode.hpp"

#include <utf8proc.h>

#include <catch2/catch.hpp>

#include "libr1/text/unicode_data.hpp"
#include "tests/unit/text/tokenizer_fixtures.hpp"

namespace r1::text {
namespace {

/// The class by general category; \s is the property White_Space, which has no category of its own.
CharClass class_by_category(char32_t c) {
  if (c == '\n' || c == '\r') return CharClass::newline;
  if ((c >= 9 && c <= 13) || c == 0x85) return CharClass::space;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::number;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return CharClass::space;
    default:
      return CharClass::other;
  }
}

}  // namespace

TEST_CASE("classes equal general categories wherever both Unicode versions know the character",
          "[unicode]") {
  std::size_t compared = 0;
  std::size_t different = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    // utf8proc's Unicode is older: what it does not know yet may have got a class since.
    if (utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_CN) continue;
    ++compared;
    different += char_class(c) == class_by_category(c) ? 0 : 1;
  }
  CHECK(compared > 280000);
  CHECK(different == 0);
}

TEST_CASE("values that are no characters have class other", "[unicode]") {
  CHECK(char_class(0xD800) == CharClass::other);
  CHECK(char_class(0x110000) == CharClass::other);
  CHECK(char_class(0xFFFFFFFF) == CharClass::other);
}

TEST_CASE("ranges are sorted and apart", "[unicode]") {
  char32_t last = 0;
  for (const ClassRange& range : class_ranges()) {
    CHECK(range.first > last);
    CHECK(range.first <= range.last);
    last = range.last;
  }
  last = 0;
  for (const CodePointRange& range : nfc_unsafe_ranges()) {
    CHECK(range.first > last);
    CHECK(range.first <= range.last);
    last = range.last;
  }
}

TEST_CASE("NFC equals Hugging Face's", "[unicode]") {
  std::size_t changed = 0;
  const auto reference = tokenizer_data("reference.json");
  for (const auto& c : reference.at("nfc")) {
    const std::string text = c.at("text");
    const std::string expected = c.at("nfc");
    INFO(c.dump(-1, ' ', true));
    CHECK(nfc(text) == expected);
    CHECK(nfc(expected) == expected);
    if (is_nfc_quick(text)) CHECK(text == expected);
    changed += text == expected ? 0 : 1;
  }
  CHECK(changed > 200);
}

TEST_CASE("NFC leaves bytes that are not UTF-8 and does not compose across them", "[unicode]") {
  CHECK(nfc("e\u0301") == "é");
  CHECK(nfc("e\xFF\u0301") == "e\xFF\u0301");
  CHECK(nfc("\xC3"
            "e\u0301\xE4\xB8") ==
        "\xC3"
        "é\xE4\xB8");
  CHECK(nfc("\u0301\xF0\x9F"
            "e\u0301") ==
        "\u0301\xF0\x9F"
        "é");
}

TEST_CASE("a million combining marks are put in order", "[unicode]") {
  // Classes 230 and 220 in turn: a neighbour-exchanging sort would take 2.5e11 steps here.
  const std::size_t pairs = 500000;
  std::string text = "x";
  std::string expected = "x";
  for (std::size_t i = 0; i < pairs; ++i) text += "\u0301\u0316";
  for (std::size_t i = 0; i < pairs; ++i) expected += "\u0316";
  for (std::size_t i = 0; i < pairs; ++i) expected += "\u0301";
  CHECK((nfc(text) == expected));
}

}  // namespace r1::text
