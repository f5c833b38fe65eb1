// The lexer follows jinja2/lexer.py of Jinja 3.1, whose regular expressions the comments name.
#include "libr1/text/jinja/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libr1/text/jinja/utf8.hpp"
#include "libr1/text/utf8.hpp"
#include "r1/error.hpp"

namespace r1::text::jinja {
namespace {

constexpr std::size_t kSourceBytesMax = std::size_t{4} << 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// All newlines become \n and one at the end goes, as tokeniter does first.
std::string normalized(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out.push_back(source[i]);
      continue;
    }
    out.push_back('\n');
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) root();
    emit(TokenType::end, {});
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::template_error,
                fmt::format("chat template, line {}: {}", line_, message));
  }

  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  bool starts(std::string_view prefix) const { return rest().substr(0, prefix.size()) == prefix; }
  void emit(TokenType type, std::string text) { tokens_.push_back({type, std::move(text), line_}); }

  /// Moves over `count` bytes; remembers whether they ended a line.
  void advance(std::size_t count) {
    const std::string_view taken = rest().substr(0, count);
    line_ += static_cast<int>(std::count(taken.begin(), taken.end(), '\n'));
    line_starting_ = !taken.empty() && taken.back() == '\n';
    at_ += count;
  }

  std::size_t next_tag(std::size_t from) const {
    for (std::size_t i = source_.find('{', from); i != std::string::npos;
         i = source_.find('{', i + 1)) {
      const char kind = i + 1 < source_.size() ? source_[i + 1] : '\0';
      if (kind == '%' || kind == '{' || kind == '#') return i;
    }
    return std::string::npos;
  }

  char sign_at(std::size_t offset) const {
    const char sign = offset < source_.size() ? source_[offset] : '\0';
    return sign == '-' || sign == '+' ? sign : '\0';
  }

  /// OptionalLStrip: what is left of the text before a tag.
  std::string_view stripped(std::string_view text, char sign, bool is_variable) const {
    if (sign == '-') return text.substr(0, trimmed_length(text));
    if (sign == '+' || is_variable) return text;
    const std::size_t newline = text.rfind('\n');
    const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
    if (line_begin == 0 && !line_starting_) return text;
    const std::string_view last_line = text.substr(line_begin);
    return skip_space(last_line) == last_line.size() ? text.substr(0, line_begin) : text;
  }

  void emit_data(std::size_t end, char sign, bool is_variable) {
    const std::string_view text = std::string_view(source_).substr(at_, end - at_);
    const std::string_view kept = stripped(text, sign, is_variable);
    if (!kept.empty()) emit(TokenType::data, std::string(kept));
    advance(text.size());
  }

  void root() {
    const std::size_t tag = next_tag(at_);
    if (tag == std::string::npos) {
      emit(TokenType::data, std::string(rest()));
      advance(rest().size());
      return;
    }
    const char kind = source_[tag + 1];
    const char sign = sign_at(tag + 2);
    emit_data(tag, sign, kind == '{');
    advance(sign != '\0' ? 3 : 2);
    if (kind == '#') {
      comment();
    } else if (kind == '{') {
      emit(TokenType::variable_begin, {});
      expression(TokenType::variable_end);
    } else if (!raw()) {
      emit(TokenType::block_begin, {});
      expression(TokenType::block_end);
    }
  }

  /// (?:\+END|\-END\s*|END\n?): length of a block's or comment's end here, or 0.
  std::size_t block_end(std::size_t offset, std::string_view end) const {
    const std::string_view text = std::string_view(source_).substr(offset);
    const char sign = sign_at(offset);
    if (text.substr(sign != '\0' ? 1 : 0, end.size()) != end) return 0;
    const std::size_t length = end.size() + (sign != '\0' ? 1 : 0);
    if (sign == '-') return length + skip_space(text.substr(length));
    return length + (sign == '\0' && text.substr(length, 1) == "\n" ? 1 : 0);
  }

  void comment() {
    const std::size_t close = source_.find("#}", at_);
    if (close == std::string::npos) fail("missing end of comment tag");
    const std::size_t end = close > at_ && sign_at(close - 1) != '\0' ? close - 1 : close;
    advance(end - at_);
    advance(block_end(end, "#}"));
  }

  /// Takes a whole raw block when one begins here.
  bool raw() {
    std::size_t at = at_ + skip_space(rest());
    const std::string_view all = source_;
    if (all.substr(at, 3) != "raw") return false;
    at += 3;
    at += skip_space(all.substr(at));
    const bool minus = all.substr(at, 3) == "-%}";
    if (!minus && all.substr(at, 2) != "%}") return false;
    at += minus ? 3 : 2;
    if (minus) at += skip_space(all.substr(at));
    advance(at - at_);
    for (std::size_t tag = source_.find("{%", at_); tag != std::string::npos;
         tag = source_.find("{%", tag + 1)) {
      const char sign = sign_at(tag + 2);
      std::size_t inner = tag + (sign != '\0' ? 3 : 2);
      inner += skip_space(all.substr(inner));
      if (all.substr(inner, 6) != "endraw") continue;
      inner += 6;
      inner += skip_space(all.substr(inner));
      const std::size_t length = block_end(inner, "%}");
      if (length == 0) continue;
      emit_data(tag, sign, false);
      advance(inner + length - at_);
      return true;
    }
    fail("missing end of raw directive");
  }

  void expression(TokenType end_type) {
    // Closing brackets still expected: inside them `}}` and `%}` do not end the tag.
    std::string open;
    while (true) {
      advance(skip_space(rest()));
      if (at_ >= source_.size()) fail("unexpected end of template inside a tag");
      const bool block = end_type == TokenType::block_end;
      const std::size_t length = !open.empty() ? 0 : block ? block_end(at_, "%}") : variable_end();
      if (length > 0) {
        emit(end_type, {});
        return advance(length);
      }
      token(open);
    }
  }

  std::size_t variable_end() const {
    if (starts("}}")) return 2;
    return starts("-}}") ? 3 + skip_space(rest().substr(3)) : 0;
  }

  void token(std::string& open) {
    const char c = source_[at_];
    if (is_digit(c)) return number();
    if (is_name_char(c)) return name();
    if (c == '\'' || c == '"') return string();
    static constexpr std::array<std::string_view, 6> kTwo = {"**", "//", "==", "!=", ">=", "<="};
    for (const std::string_view two : kTwo) {
      if (starts(two)) {
        emit(TokenType::op, std::string(two));
        return advance(2);
      }
    }
    if (std::string_view("+-/*%~[](){}<>=.:|,;").find(c) == std::string_view::npos) {
      fail(fmt::format("unexpected character 0x{:02x} in a tag", static_cast<unsigned char>(c)));
    }
    if (c == '(') open.push_back(')');
    if (c == '[') open.push_back(']');
    if (c == '{') open.push_back('}');
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) fail(fmt::format("unexpected '{}'", c));
      open.pop_back();
    }
    emit(TokenType::op, std::string(1, c));
    advance(1);
  }

  void name() {
    std::size_t end = at_;
    while (end < source_.size() && is_name_char(source_[end])) ++end;
    emit(TokenType::name, source_.substr(at_, end - at_));
    advance(end - at_);
  }

  std::size_t digits(std::size_t from) const {
    std::size_t end = from;
    while (end < source_.size() &&
           (is_digit(source_[end]) || (source_[end] == '_' && end > from &&
                                       end + 1 < source_.size() && is_digit(source_[end + 1])))) {
      ++end;
    }
    return end;
  }

  void number() {
    // A dot right before a digit makes it an index (x.0), never a fraction.
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    std::size_t end = digits(at_);
    bool fraction = false;
    if (!after_dot) {
      if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
        end = digits(end + 1);
        fraction = true;
      }
      std::size_t exponent = end;
      if (exponent < source_.size() && (source_[exponent] | 0x20) == 'e') {
        ++exponent;
        if (sign_at(exponent) != '\0') ++exponent;
        if (exponent < source_.size() && is_digit(source_[exponent])) {
          end = digits(exponent);
          fraction = true;
        }
      }
    }
    std::string text = source_.substr(at_, end - at_);
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    emit(fraction ? TokenType::number : TokenType::integer, std::move(text));
    advance(end - at_);
  }

  void string() {
    const char quote = source_[at_];
    std::string text;
    std::size_t i = at_ + 1;
    for (; i < source_.size() && source_[i] != quote; ++i) {
      if (source_[i] != '\\') {
        text.push_back(source_[i]);
      } else if (i + 1 < source_.size()) {
        i = escape(i + 1, text);
      }
    }
    if (i >= source_.size()) fail("unterminated string");
    emit(TokenType::string, std::move(text));
    advance(i + 1 - at_);
  }

  /// Decodes the escape whose letter is at `i` as Python's unicode-escape does; returns its last
  /// byte.
  std::size_t escape(std::size_t i, std::string& text) const {
    static constexpr std::string_view kLetters = "abfnrtv\\'\"";
    static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char c = source_[i];
    if (c == '\n') return i;
    if (const std::size_t k = kLetters.find(c); k != std::string_view::npos) {
      text.push_back(kMeanings[k]);
      return i;
    }
    const std::size_t hex_digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    const bool octal = c >= '0' && c <= '7';
    if (hex_digits == 0 && !octal) {
      if (c == 'N') fail("string escape \\N{...} is not known");
      text.push_back('\\');
      text.push_back(c);
      return i;
    }
    std::size_t begin = octal ? i : i + 1;
    std::size_t end = begin;
    char32_t value = 0;
    for (; end < source_.size() && end - begin < (octal ? 3 : hex_digits); ++end) {
      const char d = source_[end];
      const int digit = is_digit(d)                              ? d - '0'
                        : (d | 0x20) >= 'a' && (d | 0x20) <= 'f' ? (d | 0x20) - 'a' + 10
                                                                 : 99;
      if (digit >= (octal ? 8 : 16)) break;
      value = value * (octal ? 8U : 16U) + static_cast<char32_t>(digit);
    }
    if ((!octal && end - begin != hex_digits) || value > 0x10FFFF ||
        (value >= 0xD800 && value < 0xE000)) {
      fail(fmt::format("bad escape \\{} in a string", c));
    }
    append_utf8(text, value);
    return end - 1;
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  if (source.size() > kSourceBytesMax) {
    throw Error(ErrorCode::template_error,
                fmt::format("chat template: expected at most {} bytes, got {}", kSourceBytesMax,
                            source.size()));
  }
  return Lexer(normalized(source)).run();
}

}  // namespace r1::text::jinja
