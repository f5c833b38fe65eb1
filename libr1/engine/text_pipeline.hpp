// From generated tokens to pieces of text: bytes to characters, thought from answer, stop strings.
#pragma once

#include <string>
#include <vector>

#include "libr1/text/stop_matcher.hpp"
#include "libr1/text/stream_decoder.hpp"
#include "libr1/text/think_splitter.hpp"
#include "libr1/text/tokenizer.hpp"
#include "r1/generation.hpp"

namespace r1::engine {

/// How an answer's text is cut.
enum class ThoughtMode {
  raw,      ///< all text is answer (completions without a template)
  detect,   ///< a thought may come, opened by the model
  started,  ///< the prompt opened the thought
};

/// One generation's text. Stop strings apply to the answer, not to the thought. Not thread-safe.
class TextPipeline {
 public:
  /// Throws Error{invalid_argument} for an empty stop string.
  TextPipeline(const text::Tokenizer& tokenizer, ThoughtMode mode, std::vector<std::string> stops);

  /// Pieces that are certain after `token`. Control tokens show nothing.
  std::vector<Piece> accept(TokenId token);
  /// What was held back, at the end.
  std::vector<Piece> finish();
  /// True while the text is a thought.
  bool in_thought() const { return mode_ != ThoughtMode::raw && splitter_.in_thought(); }
  /// True once a stop string was seen; nothing comes after it.
  bool stopped() const { return stops_.stopped(); }

 private:
  std::vector<Piece> split(const std::string& text);
  std::vector<Piece> apply_stops(std::vector<Piece> pieces);

  const text::Tokenizer& tokenizer_;
  ThoughtMode mode_;
  text::StreamDecoder decoder_;
  text::ThinkSplitter splitter_;
  text::StopMatcher stops_;
};

}  // namespace r1::engine
