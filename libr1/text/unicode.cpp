// Class lookups are binary searches over ranges with short cuts for the scripts that make up nearly
// all prompts. NFC takes decompositions, combining classes and compositions from utf8proc, but not
// its utf8proc_decompose: that one orders combining marks by exchanging neighbours, quadratic in
// their number.
#include "libr1/text/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "libr1/text/unicode_data.hpp"
#include "libr1/text/utf8.hpp"

namespace r1::text {
namespace {

template <typename Range>
const Range* find_range(std::span<const Range> ranges, char32_t code_point) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code_point,
                                      [](char32_t c, const Range& r) { return c < r.first; });
  if (after == ranges.begin()) return nullptr;
  const Range& range = *(after - 1);
  return code_point <= range.last ? &range : nullptr;
}

/// CJK unified ideographs and Hangul syllables: letters that NFC never touches on their own.
bool is_common_cjk(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7A3);
}

/// A code point and its canonical combining class.
struct Mark {
  char32_t code_point;
  int combining_class;
};

/// Sorts each stretch of combining marks by class; equal classes keep their order.
void order_marks(std::vector<Mark>& marks) {
  for (std::size_t begin = 0; begin < marks.size();) {
    std::size_t end = begin + 1;
    if (marks[begin].combining_class != 0) {
      while (end < marks.size() && marks[end].combining_class != 0) ++end;
      std::stable_sort(
          marks.begin() + static_cast<std::ptrdiff_t>(begin),
          marks.begin() + static_cast<std::ptrdiff_t>(end),
          [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    }
    begin = end;
  }
}

/// Appends the canonical decomposition of `code_point`. `is_base`: it is no unsafe character, hence
/// a starter for Hugging Face's normaliser even where utf8proc's newer Unicode calls it a combining
/// mark.
void decompose(char32_t code_point, bool is_base, std::vector<Mark>& out) {
  std::array<utf8proc_int32_t, 16> parts{};
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(code_point), parts.data(), parts.size(),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE), &boundary);
  if (count < 1 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
    out.push_back({code_point, 0});
    return;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const bool starter = is_base && i == 0;
    out.push_back({static_cast<char32_t>(parts[i]),
                   starter ? 0 : utf8proc_get_property(parts[i])->combining_class});
  }
}

/// Buffers of one nfc() call.
struct Scratch {
  std::vector<Mark> marks;
  std::vector<utf8proc_int32_t> code_points;
};

/// Appends the NFC form of `segment`: valid UTF-8, of which only the first character may be safe.
void append_segment(std::string_view segment, Scratch& scratch, std::string& out) {
  scratch.marks.clear();
  for (std::size_t pos = 0; pos < segment.size();) {
    const Utf8Unit unit = utf8_at(segment, pos);
    decompose(unit.code_point, pos == 0 && !is_nfc_unsafe(unit.code_point), scratch.marks);
    pos += unit.bytes;
  }
  order_marks(scratch.marks);
  scratch.code_points.clear();
  for (const Mark& mark : scratch.marks) {
    scratch.code_points.push_back(static_cast<utf8proc_int32_t>(mark.code_point));
  }
  const utf8proc_ssize_t count = utf8proc_normalize_utf32(
      scratch.code_points.data(), static_cast<utf8proc_ssize_t>(scratch.code_points.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_utf8(out, static_cast<char32_t>(scratch.code_points[static_cast<std::size_t>(i)]));
  }
}

}  // namespace

CharClass char_class(char32_t code_point) noexcept {
  if (is_common_cjk(code_point)) return CharClass::letter;
  const ClassRange* range = find_range(class_ranges(), code_point);
  return range != nullptr ? range->in_class : CharClass::other;
}

bool is_nfc_unsafe(char32_t code_point) noexcept {
  if (code_point < 0x300 || is_common_cjk(code_point)) return false;
  return find_range(nfc_unsafe_ranges(), code_point) != nullptr;
}

bool is_nfc_quick(std::string_view text) noexcept {
  for (std::size_t pos = 0; pos < text.size();) {
    const Utf8Unit unit = utf8_at(text, pos);
    if (unit.state == Utf8State::valid && is_nfc_unsafe(unit.code_point)) return false;
    pos += unit.bytes;
  }
  return true;
}

std::string nfc(std::string_view text) {
  if (is_nfc_quick(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  Scratch scratch;
  // [copied, base) is text whose NFC is itself; base is where a segment would start: the last safe
  // character, or the place after broken bytes.
  std::size_t copied = 0;
  std::size_t base = 0;
  for (std::size_t pos = 0; pos < text.size();) {
    const Utf8Unit unit = utf8_at(text, pos);
    if (unit.state != Utf8State::valid) {
      pos += unit.bytes;
      base = pos;
      continue;
    }
    if (!is_nfc_unsafe(unit.code_point)) {
      base = pos;
      pos += unit.bytes;
      continue;
    }
    out += text.substr(copied, base - copied);
    while (pos < text.size()) {
      const Utf8Unit next = utf8_at(text, pos);
      if (next.state != Utf8State::valid || !is_nfc_unsafe(next.code_point)) break;
      pos += next.bytes;
    }
    append_segment(text.substr(base, pos - base), scratch, out);
    copied = base = pos;
  }
  out += text.substr(copied);
  return out;
}

}  // namespace r1::text
