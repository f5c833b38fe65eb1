// Printable means 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF; the 68 others are numbered from U+0100 on, in
// order.
#include "libr1/text/byte_alphabet.hpp"

#include "libr1/text/utf8.hpp"

namespace r1::text {

char32_t byte_to_letter(std::uint8_t byte) noexcept {
  if (byte <= 0x20) return char32_t{0x100} + byte;  // 33 control bytes and the space
  if (byte >= 0x7F && byte <= 0xA0) return char32_t{0x121} + (byte - 0x7F);
  if (byte == 0xAD) return 0x143;
  return byte;
}

std::optional<std::string> bytes_of_spelling(std::string_view spelling) {
  std::string bytes;
  bytes.reserve(spelling.size());
  for (std::size_t pos = 0; pos < spelling.size();) {
    const Utf8Unit unit = utf8_at(spelling, pos);
    if (unit.state != Utf8State::valid) return std::nullopt;
    const char32_t c = unit.code_point;
    std::uint8_t byte = 0;
    if (c >= 0x100 && c <= 0x120) {
      byte = static_cast<std::uint8_t>(c - 0x100);
    } else if (c >= 0x121 && c <= 0x142) {
      byte = static_cast<std::uint8_t>(c - 0x121 + 0x7F);
    } else if (c == 0x143) {
      byte = 0xAD;
    } else if (c < 0x100 && byte_to_letter(static_cast<std::uint8_t>(c)) == c) {
      byte = static_cast<std::uint8_t>(c);
    } else {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(byte));
    pos += unit.bytes;
  }
  return bytes;
}

}  // namespace r1::text
