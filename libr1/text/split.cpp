// Alternatives are tried in the pattern's order. None needs real backtracking: greedy runs of one
// character class end where the class ends, and the two alternatives that give characters back
// (whitespace before a newline, whitespace before a word) do so to a place that is known once the
// run was seen.
#include "libr1/text/split.hpp"

#include "libr1/text/unicode.hpp"
#include "libr1/text/utf8.hpp"

namespace r1::text {
namespace {

/// A character's class and where the next character starts.
struct Step {
  CharClass in_class;
  std::size_t next;
};

Step step_at(std::string_view text, std::size_t pos) {
  const auto byte = static_cast<unsigned char>(text[pos]);
  const unsigned char lower = byte | 0x20;
  if (lower >= 'a' && lower <= 'z') return {CharClass::letter, pos + 1};
  const Utf8Unit unit = utf8_at(text, pos);
  const bool valid = unit.state == Utf8State::valid;
  return {valid ? char_class(unit.code_point) : CharClass::other, pos + unit.bytes};
}

bool is_letter_at(std::string_view text, std::size_t pos) {
  return pos < text.size() && step_at(text, pos).in_class == CharClass::letter;
}

bool is_symbol_at(std::string_view text, std::size_t pos) {
  return pos < text.size() && step_at(text, pos).in_class == CharClass::other;
}

std::size_t letters_end(std::string_view text, std::size_t pos) {
  while (pos < text.size()) {
    const Step step = step_at(text, pos);
    if (step.in_class != CharClass::letter) break;
    pos = step.next;
  }
  return pos;
}

std::size_t symbols_end(std::string_view text, std::size_t pos) {
  while (pos < text.size()) {
    const Step step = step_at(text, pos);
    if (step.in_class != CharClass::other) break;
    pos = step.next;
  }
  while (pos < text.size() && (text[pos] == '\r' || text[pos] == '\n')) ++pos;
  return pos;
}

/// Where whitespace from `pos` on is cut.
std::size_t whitespace_end(std::string_view text, std::size_t pos) {
  std::size_t newline_end = 0;
  std::size_t last_start = pos;
  std::size_t end = pos;
  while (end < text.size()) {
    const Step step = step_at(text, end);
    if (step.in_class != CharClass::space && step.in_class != CharClass::newline) break;
    if (step.in_class == CharClass::newline) newline_end = step.next;
    last_start = end;
    end = step.next;
  }
  if (newline_end != 0) return newline_end;    // \s*[\r\n]+
  if (end == text.size()) return end;          // \s+(?!\S) at the end of the text
  return last_start > pos ? last_start : end;  // \s+(?!\S) gives up one; a lone blank is \s+
}

/// Bytes of 's 't 're 've 'm 'll 'd at `pos` in either case, or 0. U+017F (long s) folds to s.
std::size_t contraction_bytes(std::string_view text, std::size_t pos) {
  if (text[pos] != '\'') return 0;
  const std::string_view rest = text.substr(pos + 1);
  if (rest.starts_with("\xC5\xBF")) return 3;
  const auto lower_at = [rest](std::size_t i) {
    const char c = i < rest.size() ? rest[i] : '\0';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  };
  switch (lower_at(0)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return lower_at(1) == 'e' ? 3 : 0;
    case 'l':
      return lower_at(1) == 'l' ? 3 : 0;
    default:
      return 0;
  }
}

}  // namespace

std::size_t word_end(std::string_view text, std::size_t pos) noexcept {
  if (const std::size_t bytes = contraction_bytes(text, pos)) return pos + bytes;
  const Step first = step_at(text, pos);
  switch (first.in_class) {
    case CharClass::letter:
      return letters_end(text, first.next);
    case CharClass::number:
      return first.next;
    case CharClass::newline:
      return whitespace_end(text, pos);
    case CharClass::space:
      if (is_letter_at(text, first.next)) return letters_end(text, first.next);
      if (text[pos] == ' ' && is_symbol_at(text, first.next)) return symbols_end(text, first.next);
      return whitespace_end(text, pos);
    case CharClass::other:
      break;
  }
  if (is_letter_at(text, first.next)) return letters_end(text, first.next);
  return symbols_end(text, first.next);
}

}  // namespace r1::text
