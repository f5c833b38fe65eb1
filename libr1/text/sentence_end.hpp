// Where a thought may be broken off: after a sentence or a line, not inside a number.
#pragma once

#include <string>
#include <string_view>

namespace r1::text {

/// Reads text as it comes, in any pieces, and knows whether it stands at the end of a sentence:
/// after a newline, one of . ! ? 。 ！ ？, or one of these and then closing quotes, brackets or
/// asterisks, then blanks. A dot or ! right after a digit ends nothing (3.14, "2." of a list, 5!),
/// nor does a dot after a blank (.5). It looks at what was said, not ahead: "file." before "txt" is
/// an end. Not thread-safe.
class SentenceEnd {
 public:
  /// Takes the next bytes; characters may be split between calls.
  void feed(std::string_view bytes);
  /// True at an end, and before any text.
  bool at_end() const { return end_ && held_.empty(); }
  /// True when the last character was a newline.
  bool at_line_start() const { return last_ == Last::newline && held_.empty(); }

 private:
  enum class Last { nothing, newline, blank, digit, other };

  void take(char32_t code_point);

  bool end_ = true;
  Last last_ = Last::nothing;
  std::string held_;  ///< the beginning of a split character
};

}  // namespace r1::text
