// Cutting and mapping of marked text. Offsets are bytes; characters are code points.
#include "libr1/text/jinja/text_tools.hpp"

#include <utf8proc.h>

#include <algorithm>

#include "libr1/text/jinja/utf8.hpp"
#include "libr1/text/utf8.hpp"

namespace r1::text::jinja {
namespace {

bool strips(const CodePoint& c, std::string_view piece, const Text* characters) {
  if (characters == nullptr) return c.valid && is_space(c.value);
  const std::string& set = characters->bytes();
  for (std::size_t at = 0; at < set.size();) {
    const std::size_t length = code_point_at(set, at).bytes;
    if (std::string_view(set).substr(at, length) == piece) return true;
    at += length;
  }
  return false;
}

bool is_letter(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      return false;
  }
}

/// `to_upper(index, code point)` chooses the case of each character.
template <class Choose>
Text map_case(const Text& text, Choose&& to_upper) {
  Text out;
  std::size_t begin = 0;
  std::string mapped;
  const std::string& bytes = text.bytes();
  // Mapped run by run, so that a long text of one author stays one append.
  for (const Text::Run& run : text.runs()) {
    mapped.clear();
    while (begin < run.end) {
      const CodePoint c = code_point_at(bytes, begin);
      const auto value = static_cast<utf8proc_int32_t>(c.value);
      const bool upper_case = to_upper(begin, c.value);
      if (!c.valid) {
        mapped.push_back(bytes[begin]);
      } else if (upper_case && c.value == 0xDF) {
        mapped += "SS";  // the one letter in common use whose upper case is two
      } else {
        append_utf8(mapped, static_cast<char32_t>(upper_case ? utf8proc_toupper(value)
                                                             : utf8proc_tolower(value)));
      }
      begin += c.bytes;
    }
    out.append(mapped, run.author);
  }
  return out;
}

/// Length of the line end at `at`, or 0.
std::size_t line_end(std::string_view bytes, std::size_t at) {
  const CodePoint c = code_point_at(bytes, at);
  if (c.value == '\r') return bytes.substr(at + 1, 1) == "\n" ? 2 : 1;
  const bool ends = (c.value >= 0x0A && c.value <= 0x0C) || (c.value >= 0x1C && c.value <= 0x1E) ||
                    (c.valid && (c.value == 0x85 || c.value == 0x2028 || c.value == 0x2029));
  return ends ? c.bytes : 0;
}

std::vector<Text> split_space(const Text& text, std::int64_t most, bool from_right) {
  std::vector<Text> parts;
  const std::string_view bytes = text.bytes();
  std::size_t begin = skip_space(bytes);
  std::size_t end = trimmed_length(bytes);
  const auto is_break = [&](std::size_t at) {
    const CodePoint c = code_point_at(bytes, at);
    return c.valid && is_space(c.value);
  };
  while (begin < end) {
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) == most) {
      parts.push_back(from_right ? text.slice(0, end) : text.slice(begin, bytes.size()));
      break;
    }
    if (from_right) {
      std::size_t at = end;
      while (at > begin && !is_break(previous_code_point(bytes, at)))
        at = previous_code_point(bytes, at);
      parts.push_back(text.slice(at, end));
      end = trimmed_length(bytes.substr(0, at));
    } else {
      std::size_t at = begin;
      while (at < end && !is_break(at)) at += code_point_at(bytes, at).bytes;
      parts.push_back(text.slice(begin, at));
      begin = at + skip_space(bytes.substr(at));
    }
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace

Text strip(const Text& text, const Text* characters, Ends ends) {
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while (ends != Ends::right && begin < end) {
    const CodePoint c = code_point_at(bytes, begin);
    if (!strips(c, bytes.substr(begin, c.bytes), characters)) break;
    begin += c.bytes;
  }
  while (ends != Ends::left && begin < end) {
    const std::size_t last = previous_code_point(bytes, end);
    if (!strips(code_point_at(bytes, last), bytes.substr(last, end - last), characters)) break;
    end = last;
  }
  return text.slice(begin, end);
}

Text upper(const Text& text) {
  return map_case(text, [](std::size_t, char32_t) { return true; });
}

Text lower(const Text& text) {
  return map_case(text, [](std::size_t, char32_t) { return false; });
}

Text capitalize(const Text& text) {
  return map_case(text, [](std::size_t at, char32_t) { return at == 0; });
}

Text title(const Text& text) {
  bool after_letter = false;
  return map_case(text, [&](std::size_t, char32_t c) {
    const bool first = !after_letter;
    after_letter = is_letter(c);
    return first;
  });
}

Text replace(Runtime& runtime, const Text& text, const Text& old_text, const Text& new_text,
             std::int64_t count) {
  runtime.budget.work(text.size());
  const std::string& bytes = text.bytes();
  Text out;
  std::size_t copied = 0;
  std::size_t at = 0;
  for (; count != 0; --count) {
    const std::size_t hit = find_bytes(bytes, old_text.bytes(), at);
    if (hit == std::string::npos) break;
    out.append(text, copied, hit);
    out.append(new_text);
    runtime.budget.work(new_text.size());
    copied = hit + old_text.size();
    at = copied;
    if (!old_text.empty()) continue;
    // An empty string is found before every character and at the end.
    if (at == bytes.size()) break;
    at += code_point_at(bytes, at).bytes;
  }
  out.append(text, copied, bytes.size());
  return out;
}

std::vector<Text> split(Runtime& runtime, const Text& text, const Text* separator,
                        std::int64_t most, bool from_right) {
  runtime.budget.work(text.size());
  if (separator == nullptr) return split_space(text, most, from_right);
  if (separator->empty()) runtime.fail("split: empty separator");
  const std::string_view bytes = text.bytes();
  std::vector<std::size_t> hits;
  if (from_right) {
    for (std::size_t end = bytes.size(); end >= separator->size() && most != 0; --most) {
      const std::size_t hit = bytes.rfind(separator->bytes(), end - separator->size());
      if (hit == std::string_view::npos) break;
      hits.push_back(hit);
      end = hit;
    }
    std::reverse(hits.begin(), hits.end());
  } else {
    for (std::size_t at = 0; most != 0; --most) {
      const std::size_t hit = find_bytes(bytes, separator->bytes(), at);
      if (hit == std::string_view::npos) break;
      hits.push_back(hit);
      at = hit + separator->size();
    }
  }
  runtime.budget.step(hits.size());
  std::vector<Text> parts;
  std::size_t begin = 0;
  for (const std::size_t hit : hits) {
    parts.push_back(text.slice(begin, hit));
    begin = hit + separator->size();
  }
  parts.push_back(text.slice(begin, bytes.size()));
  return parts;
}

std::vector<Text> split_lines(const Text& text, bool keep_ends) {
  std::vector<Text> lines;
  const std::string_view bytes = text.bytes();
  std::size_t begin = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = line_end(bytes, at);
    if (length == 0) {
      at += code_point_at(bytes, at).bytes;
      continue;
    }
    lines.push_back(text.slice(begin, keep_ends ? at + length : at));
    at += length;
    begin = at;
  }
  if (begin < bytes.size()) lines.push_back(text.slice(begin, bytes.size()));
  return lines;
}

}  // namespace r1::text::jinja
