// Splits generated text into thought and answer (case C3).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "r1/generation.hpp"

namespace r1::text {

/// Recognises one thought: opened by the prompt, or by `<think>` as the first thing the model
/// writes, and ended by `</think>`. Tags are not output; newlines and blanks right inside and right
/// after the tags are trimmed the same way whatever the chunks. A later tag is plain answer text.
/// Holds back only what may become a tag or be trimmed. Not thread-safe.
class ThinkSplitter {
 public:
  explicit ThinkSplitter(bool starts_in_thought = false);
  /// Pieces that are certain after `text`.
  std::vector<Piece> feed(std::string_view text);
  /// The rest, at the end of the answer. Resets to the end state.
  std::vector<Piece> finish();
  /// True while inside the thought.
  bool in_thought() const;

 private:
  enum class State { start, thought_start, thought, answer_start, answer };
  State state_;
  std::string held_;
};

}  // namespace r1::text
