// Runs of authorship under appending and slicing; neighbours with the same author are always
// merged.
#include "libr1/text/jinja/marked_text.hpp"

#include <algorithm>

namespace r1::text::jinja {
namespace {

std::vector<Text::Run>::const_iterator run_at(const std::vector<Text::Run>& runs,
                                              std::size_t offset) {
  return std::upper_bound(runs.begin(), runs.end(), offset,
                          [](std::size_t value, const Text::Run& run) { return value < run.end; });
}

}  // namespace

Author Text::author_at(std::size_t offset) const noexcept {
  const auto run = run_at(runs_, offset);
  return run == runs_.end() ? Author::conversation : run->author;
}

void Text::append(std::string_view bytes, Author author) {
  if (bytes.empty()) return;
  if (bytes.size() > kTextBytesMax - bytes_.size()) throw LimitExceeded{"64 MB of text"};
  bytes_.append(bytes);
  if (!runs_.empty() && runs_.back().author == author) {
    runs_.back().end = bytes_.size();
  } else {
    runs_.push_back({bytes_.size(), author});
  }
}

void Text::append(const Text& other, std::size_t begin, std::size_t end) {
  for (auto run = run_at(other.runs_, begin); begin < end; ++run) {
    const std::size_t stop = std::min(end, run->end);
    append(std::string_view(other.bytes_).substr(begin, stop - begin), run->author);
    begin = stop;
  }
}

Text Text::slice(std::size_t begin, std::size_t end) const {
  Text out;
  out.append(*this, begin, end);
  return out;
}

}  // namespace r1::text::jinja
