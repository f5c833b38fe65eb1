// UTF-8 validation and a guess at what else a text may be.
#include "tools/r1-generate/encoding.hpp"

namespace r1_tools {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool in(unsigned char byte, unsigned char low, unsigned char high) {
  return byte >= low && byte <= high;
}

/// Length of the well-formed character at `i`; 0 when there is none.
std::size_t character_length(std::string_view text, std::size_t i) {
  const unsigned char lead = byte_at(text, i);
  if (lead < 0x80) return 1;
  const auto follows = [&](std::size_t n) { return in(byte_at(text, i + n), 0x80, 0xBF); };
  if (in(lead, 0xC2, 0xDF)) return follows(1) ? 2 : 0;
  const unsigned char second = byte_at(text, i + 1);
  if (in(lead, 0xE0, 0xEF)) {
    // E0 must not be overlong, ED must not be a surrogate.
    const bool good = in(second, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF);
    return good && follows(2) ? 3 : 0;
  }
  if (in(lead, 0xF0, 0xF4)) {
    const bool good = in(second, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
    return good && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// All of `text` can be GB18030 (which contains GBK and GB2312).
bool is_gb18030(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char first = byte_at(text, i);
    const unsigned char second = byte_at(text, i + 1);
    if (first < 0x80) {
      i += 1;
    } else if (in(first, 0x81, 0xFE) && second != 0x7F && in(second, 0x40, 0xFE)) {
      i += 2;
    } else if (in(first, 0x81, 0xFE) && in(second, 0x30, 0x39) &&
               in(byte_at(text, i + 2), 0x81, 0xFE) && in(byte_at(text, i + 3), 0x30, 0x39)) {
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = character_length(text, i);
    if (length == 0) break;
    i += length;
  }
  return i;
}

std::string guess_encoding(std::string_view text) {
  using std::string_view_literals::operator""sv;
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv)) return "UTF-16";
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < text.size(); ++i) zeros[i % 2] += text[i] == '\0' ? 1 : 0;
  // Each Latin letter, digit and blank has one zero byte; a text without any of them is rare.
  if (zeros[0] + zeros[1] > 0) {
    if (text.size() % 2 != 0) return "";
    if (zeros[0] == 0) return "UTF-16LE";
    return zeros[1] == 0 ? "UTF-16BE" : "";
  }
  // A text cut off inside a UTF-8 character is damaged, whatever else its bytes may mean.
  if (text.size() - valid_utf8_prefix(text) < 4 && valid_utf8_prefix(text) > 16) return "";
  return is_gb18030(text) ? "GB18030" : "";
}

bool is_chinese(std::string_view text) {
  bool han = false;
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    const unsigned char lead = byte_at(text, i);
    const unsigned char second = byte_at(text, i + 1);
    // U+3400..U+9FFF are E3 90 80 .. E9 BF BF; kana, U+3040..U+30FF, E3 81 80 .. E3 83 BF.
    if (lead == 0xE3 && in(second, 0x81, 0x83)) return false;
    han |= in(lead, 0xE4, 0xE9) || (lead == 0xE3 && second >= 0x90);
  }
  return han;
}

}  // namespace r1_tools
