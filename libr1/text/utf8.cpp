// The UTF-8 decoder follows table 3-7 of the Unicode standard ("well-formed UTF-8 byte sequences"):
// the first byte fixes the length and the range of the second byte, so that overlong forms,
// surrogates and values above U+10FFFF are refused by the second byte already.
#include "libr1/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace r1::text {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t pos) {
  return static_cast<std::uint8_t>(text[pos]);
}

/// Length of a sequence and the range of its second byte, by its first byte. Length 0: never a
/// start.
struct Lead {
  std::uint8_t length;
  std::uint8_t second_min;
  std::uint8_t second_max;
};

Lead lead_of(std::uint8_t first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3, 0x80, 0xBF};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first < 0xF4) return {4, 0x80, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Unit utf8_at(std::string_view text, std::size_t pos) noexcept {
  const std::uint8_t first = byte_at(text, pos);
  if (first < 0x80) return {first, 1, Utf8State::valid};
  const Lead lead = lead_of(first);
  if (lead.length == 0) return {0, 1, Utf8State::invalid};
  char32_t code_point = first & (0x7Fu >> lead.length);
  for (std::uint8_t i = 1; i < lead.length; ++i) {
    if (pos + i >= text.size()) return {0, i, Utf8State::truncated};
    const std::uint8_t next = byte_at(text, pos + i);
    const std::uint8_t low = i == 1 ? lead.second_min : std::uint8_t{0x80};
    const std::uint8_t high = i == 1 ? lead.second_max : std::uint8_t{0xBF};
    if (next < low || next > high) return {0, i, Utf8State::invalid};
    code_point = (code_point << 6) | (next & 0x3Fu);
  }
  return {code_point, lead.length, Utf8State::valid};
}

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t pos = 0; pos < text.size();) {
    const Utf8Unit unit = utf8_at(text, pos);
    if (unit.state != Utf8State::valid) return false;
    pos += unit.bytes;
  }
  return true;
}

std::size_t utf8_incomplete_tail(std::string_view text) noexcept {
  const std::size_t window = std::min<std::size_t>(text.size(), 3);
  for (std::size_t back = 1; back <= window; ++back) {
    const std::size_t pos = text.size() - back;
    if ((byte_at(text, pos) & 0xC0) == 0x80)
      continue;  // a continuation byte: its lead is further left
    const Utf8Unit unit = utf8_at(text, pos);
    return unit.state == Utf8State::truncated ? unit.bytes : 0;
  }
  return 0;
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t pos = 0; pos < text.size();) {
    const Utf8Unit unit = utf8_at(text, pos);
    out += unit.state == Utf8State::valid ? text.substr(pos, unit.bytes) : kReplacementUtf8;
    pos += unit.bytes;
  }
  return out;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kBytesMax = 80;
  std::string out;
  for (std::size_t pos = 0; pos < text.size();) {
    if (pos >= kBytesMax) return out + "...";
    const Utf8Unit unit = utf8_at(text, pos);
    const bool is_control =
        unit.code_point < 0x20 || (unit.code_point >= 0x7F && unit.code_point < 0xA0);
    for (const char c : text.substr(pos, unit.bytes)) {
      if (unit.state == Utf8State::valid && !is_control) {
        out += c;
      } else {
        out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
      }
    }
    pos += unit.bytes;
  }
  return out;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto push = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0 | (code_point >> 6));
    push(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    push(0xE0 | (code_point >> 12));
    push(0x80 | ((code_point >> 6) & 0x3F));
    push(0x80 | (code_point & 0x3F));
  } else {
    push(0xF0 | (code_point >> 18));
    push(0x80 | ((code_point >> 12) & 0x3F));
    push(0x80 | ((code_point >> 6) & 0x3F));
    push(0x80 | (code_point & 0x3F));
  }
}

}  // namespace r1::text
