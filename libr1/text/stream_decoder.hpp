// Tokens' bytes in, whole UTF-8 characters out (case T6).
#pragma once

#include <string>
#include <string_view>

namespace r1::text {

/// Holds back an incomplete UTF-8 tail and nothing else. A byte that can never become part of a
/// character turns into one U+FFFD at once. Not thread-safe.
class StreamDecoder {
 public:
  /// Whole characters that are complete after `bytes`.
  std::string feed(std::string_view bytes);
  /// What is left at the end: U+FFFD for an incomplete tail, else nothing. Resets.
  std::string finish();

 private:
  std::string tail_;
};

}  // namespace r1::text
