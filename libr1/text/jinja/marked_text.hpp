// A string that remembers, byte for byte, who wrote it: the template, or the conversation (case
// T5).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace r1::text::jinja {

/// Longest text that a template may make, 64 MB: some 16 million tokens.
inline constexpr std::size_t kTextBytesMax = std::size_t{64} << 20;

/// A template went over a bound; the interpreter adds the line. `what` names the bound.
struct LimitExceeded {
  std::string what;
};

/// Who wrote a text.
enum class Author : bool { conversation = false, template_file = true };

/// Bytes with the author of each. Every way of cutting and joining keeps the marks. A value type.
class Text {
 public:
  /// Bytes up to `end` (from the end of the run before) by one author; neighbours differ.
  struct Run {
    std::size_t end;
    Author author;
  };

  Text() = default;
  Text(std::string_view bytes, Author author) { append(bytes, author); }

  const std::string& bytes() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return bytes_.size(); }
  bool empty() const noexcept { return bytes_.empty(); }
  const std::vector<Run>& runs() const noexcept { return runs_; }
  /// Author of the byte at `offset` < size().
  Author author_at(std::size_t offset) const noexcept;

  /// All appends throw LimitExceeded above kTextBytesMax. `other` must not be *this.
  void append(std::string_view bytes, Author author);
  void append(const Text& other) { append(other, 0, other.size()); }
  void append(const Text& other, std::size_t begin, std::size_t end);
  /// Bytes [begin, end).
  Text slice(std::size_t begin, std::size_t end) const;

 private:
  std::string bytes_;
  std::vector<Run> runs_;
};

}  // namespace r1::text::jinja
