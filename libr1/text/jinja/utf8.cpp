// Python's view of characters on top of text/utf8.
#include "libr1/text/jinja/utf8.hpp"

#include <string.h>

#include "libr1/text/utf8.hpp"

namespace r1::text::jinja {

CodePoint code_point_at(std::string_view bytes, std::size_t offset) noexcept {
  const Utf8Unit unit = utf8_at(bytes, offset);
  if (unit.state == Utf8State::valid) return {unit.code_point, unit.bytes, true};
  return {static_cast<unsigned char>(bytes[offset]), 1, false};
}

std::size_t count_code_points(std::string_view bytes) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < bytes.size(); ++count) i += code_point_at(bytes, i).bytes;
  return count;
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
