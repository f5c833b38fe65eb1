// Two facts are kept: whether the text stands at an end, and what kind of character came last.
#include "libr1/text/sentence_end.hpp"

#include "libr1/text/utf8.hpp"

namespace r1::text {
namespace {

bool is_digit(char32_t c) { return (c >= U'0' && c <= U'9') || (c >= U'０' && c <= U'９'); }

bool is_closer(char32_t c) {
  return std::u32string_view(U"\"')]}*_”’）」』】》").find(c) != std::u32string_view::npos;
}

}  // namespace

void SentenceEnd::feed(std::string_view bytes) {
  held_.append(bytes);
  std::size_t pos = 0;
  while (pos < held_.size()) {
    const Utf8Unit unit = utf8_at(held_, pos);
    if (unit.state == Utf8State::truncated) break;
    take(unit.state == Utf8State::valid ? unit.code_point : U'\uFFFD');
    pos += unit.bytes;
  }
  held_.erase(0, pos);
}

void SentenceEnd::take(char32_t c) {
  const Last before = last_;
  last_ = Last::other;
  switch (c) {
    case U'\n':
    case U'\r':
      last_ = Last::newline;
      end_ = true;
      return;
    case U' ':
    case U'\t':
    case U'\u3000':
      last_ = Last::blank;
      return;
    case U'.':
      end_ = before == Last::other;
      return;
    case U'!':
      end_ = before != Last::digit;
      return;
    case U'?':
    case U'。':
    case U'！':
    case U'？':
      end_ = true;
      return;
    default:
      // After a blank it opens what comes.
      if (before == Last::other && is_closer(c)) return;
      if (is_digit(c)) last_ = Last::digit;
      end_ = false;
  }
}

}  // namespace r1::text
