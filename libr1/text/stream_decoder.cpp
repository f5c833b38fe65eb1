// Holds at most three bytes: the start of a character whose rest has not come yet. Broken bytes are
// replaced as repair_utf8 does, so the stream's text equals that of the bytes decoded at once.
#include "libr1/text/stream_decoder.hpp"

#include "libr1/text/utf8.hpp"

namespace r1::text {

std::string StreamDecoder::feed(std::string_view bytes) {
  tail_ += bytes;
  const std::size_t whole = tail_.size() - utf8_incomplete_tail(tail_);
  std::string out = repair_utf8(std::string_view(tail_).substr(0, whole));
  tail_.erase(0, whole);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = repair_utf8(tail_);
  tail_.clear();
  return out;
}

}  // namespace r1::text
