// UTF-8 decoding against Python's decoder (tests/data/tokenizer/reference.json).
#include "libr1/text/utf8.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/text/tokenizer_fixtures.hpp"

namespace r1::text {
namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace

TEST_CASE("broken bytes are replaced as Python replaces them", "[utf8]") {
  std::size_t broken = 0;
  const auto reference = tokenizer_data("reference.json");
  for (const auto& c : reference.at("repaired")) {
    const std::string bytes = from_hex(c.at("hex"));
    const std::string expected = c.at("text");
    INFO(c.at("hex"));
    CHECK(repair_utf8(bytes) == expected);
    CHECK(is_utf8(bytes) == (bytes == expected));
    broken += bytes == expected ? 0 : 1;
  }
  CHECK(broken > 500);
}

TEST_CASE("text from files stays on its line of a message", "[utf8]") {
  CHECK(printable("a b") == "a b");
  CHECK(printable("鸡兔 <｜User｜>") == "鸡兔 <｜User｜>");
  CHECK(printable("a\nb\t\x1b[31m\x7f") == "a\\x0ab\\x09\\x1b[31m\\x7f");
  CHECK(printable("\u0085\u009b31m\u00a0") == "\\xc2\\x85\\xc2\\x9b31m\u00a0");
  CHECK(printable("\xff\xe4\xb8") == "\\xff\\xe4\\xb8");
  CHECK(printable(std::string(80, 'x')) == std::string(80, 'x'));
  CHECK(printable(std::string(81, 'x')) == std::string(80, 'x') + "...");
  // A character is never cut.
  CHECK(printable(std::string(79, 'x') + "鸡兔") == std::string(79, 'x') + "鸡...");
}

TEST_CASE("every scalar value survives encoding and decoding", "[utf8]") {
  char32_t failures = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    const Utf8Unit unit = utf8_at(text, 0);
    const bool good =
        unit.state == Utf8State::valid && unit.code_point == c && unit.bytes == text.size();
    failures += good ? 0 : 1;
  }
  CHECK(failures == 0);
  std::string text;
  append_utf8(text, U'中');
  append_utf8(text, U'\U0001F999');
  CHECK(text == "中🦙");
}

TEST_CASE("a cut character is told from broken bytes", "[utf8]") {
  CHECK(utf8_at("\xF0\x9F\xA6", 0).state == Utf8State::truncated);
  CHECK(utf8_at("\xF0\x9F\xA6", 0).bytes == 3);
  CHECK(utf8_at("\xF0\x9F"
                "a",
                0)
            .state == Utf8State::invalid);
  CHECK(utf8_at("\xED\xA0", 0).state == Utf8State::invalid);  // a surrogate, whatever follows
  CHECK(utf8_incomplete_tail("") == 0);
  CHECK(utf8_incomplete_tail("a\xE4") == 1);
  CHECK(utf8_incomplete_tail("a\xE4\xB8") == 2);
  CHECK(utf8_incomplete_tail("a\xE4\xB8\xAD") == 0);
  CHECK(utf8_incomplete_tail("a\xF0\x9F\xA6") == 3);
  CHECK(utf8_incomplete_tail("a\xF0\x9F\xA6\x99") == 0);
  CHECK(utf8_incomplete_tail("\x80\x80\x80\x80") == 0);
  CHECK(utf8_incomplete_tail("\xE0\x80") == 0);  // overlong: broken already
  CHECK(utf8_incomplete_tail("\xFF") == 0);
}

}  // namespace r1::text
