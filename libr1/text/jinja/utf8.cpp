// Decoding of single code points; strict about overlong forms and surrogates, like Python.
#include "libr1/text/jinja/utf8.hpp"

#include <string.h>

namespace r1::text::jinja {

CodePoint code_point_at(std::string_view bytes, std::size_t offset) noexcept {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned char>(offset + i < bytes.size() ? bytes[offset + i] : 0);
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t length = 0;
  char32_t value = 0;
  if (lead >= 0xC2 && lead < 0xE0) {
    length = 2;
    value = lead & 0x1F;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    length = 3;
    value = lead & 0x0F;
  } else if (lead >= 0xF0 && lead < 0xF5) {
    length = 4;
    value = lead & 0x07;
  } else {
    return {lead, 1, false};
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1, false};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {lead, 1, false};
  return {value, length, true};
}

std::size_t count_code_points(std::string_view bytes) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < bytes.size(); ++count) i += code_point_at(bytes, i).bytes;
  return count;
}

void append_code_point(std::string& out, char32_t value) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | (value >> 6));
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12));
    put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | (value >> 18));
    put(0x80 | ((value >> 12) & 0x3F));
    put(0x80 | ((value >> 6) & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

bool is_space(char32_t c) noexcept {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::size_t skip_space(std::string_view bytes) noexcept {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const CodePoint c = code_point_at(bytes, i);
    if (!c.valid || !is_space(c.value)) break;
    i += c.bytes;
  }
  return i;
}

std::size_t trimmed_length(std::string_view bytes) noexcept {
  std::size_t end = bytes.size();
  while (end > 0) {
    const std::size_t start = previous_code_point(bytes, end);
    const CodePoint c = code_point_at(bytes, start);
    if (!c.valid || !is_space(c.value)) break;
    end = start;
  }
  return end;
}

std::size_t previous_code_point(std::string_view bytes, std::size_t end) noexcept {
  for (std::size_t back = 1; back <= 4 && back <= end; ++back) {
    const CodePoint c = code_point_at(bytes, end - back);
    if (c.valid && c.bytes == back) return end - back;
  }
  return end - 1;
}

std::size_t find_bytes(std::string_view bytes, std::string_view needle, std::size_t from) noexcept {
  if (from > bytes.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  // memmem is two-way search in glibc, musl and the BSDs; string_view::find can be quadratic.
  const void* hit = memmem(bytes.data() + from, bytes.size() - from, needle.data(), needle.size());
  if (hit == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(hit) - bytes.data());
}

}  // namespace r1::text::jinja
