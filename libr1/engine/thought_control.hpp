// When a thought has to end and when an answer goes round in a circle: thinking budget, room for
// the answer, loops, the caller's wish. A state machine that is told tokens and times; the loop
// forces the closing tokens and ends the generation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "libr1/engine/loop_detector.hpp"
#include "libr1/text/sentence_end.hpp"
#include "r1/generation.hpp"

namespace r1::engine {

/// Refuses budgets that are negative or no number: throws Error{invalid_argument}.
void check_think_budget(const GenerationOptions& options);

/// Tokens kept for the answer of a generation that may have `room` tokens: a quarter, at most 256.
std::int64_t answer_reserve(std::int64_t room);

/// Tokens that a thought may go on to reach the end of its sentence, `tokens` long: a tenth, at
/// least 32, at most 128.
std::int64_t sentence_grace(std::int64_t tokens);

/// What bounds a thought.
struct ThoughtLimits {
  std::optional<std::int64_t> budget_tokens = {};  ///< >= 0
  std::optional<double> budget_s = {};             ///< >= 0
  std::int64_t room = 0;            ///< tokens that the generation may have in all, >= 1
  std::int64_t reserve = 0;         ///< of these, kept for the answer; 0: a thought may take all
  std::int64_t closing_tokens = 4;  ///< tokens of the longest closing_text(), or more
  bool stop_loops = true;
};

/// A token that was generated or forced.
struct GeneratedToken {
  TokenId id = 0;
  std::string_view bytes;   ///< what it shows; empty for control tokens
  bool in_thought = false;  ///< where the text stands after it
};

/// What is to be done after a token.
enum class ThoughtStep {
  proceed,
  close_thought,   ///< make the tokens of closing_text() the next ones
  end_generation,  ///< finish_reason length, loop() is true
};

/// One generation's control.
///
/// A limit that is passed (budget in tokens or seconds, a loop, what room leaves) makes the thought
/// end after its sentence, sentence_grace() tokens later at the latest. Room is kept strictly: the
/// look for an end begins that many tokens before the last one that a thought may have (half-way at
/// the earliest). Where room cannot hold the closing and a token of answer, the thought has it all.
/// A budget of 0 and the caller's wish end the thought at once. Not thread-safe.
class ThoughtControl {
 public:
  explicit ThoughtControl(const ThoughtLimits& limits);

  /// Before the first token is chosen, at time `now` in seconds; `in_thought`: the prompt has
  /// opened the thought.
  ThoughtStep begin(bool in_thought, double now);
  /// After each token, forced ones too.
  ThoughtStep accept(const GeneratedToken& token, double now);
  /// The caller wants the thought to end: the next begin() or accept() inside a thought closes it.
  void end_thought() { asked_ = true; }

  /// What closes the thought where it stands, in the form that templates and models write:
  /// "\n</think>\n\n", without the first newline where one has just been said.
  std::string_view closing_text() const;
  /// Why the thought ended, or is being ended.
  ThoughtEnd thought_end() const { return end_; }
  /// The answer was a loop.
  bool loop() const { return loop_; }
  /// Tokens of the thought so far, its closing not included.
  std::int64_t thought_tokens() const { return thought_tokens_; }

 private:
  enum class Phase { answer, thought, closing };

  void open_thought(double now);
  void close_at_sentence(ThoughtEnd reason, std::int64_t last_token);
  void look_at_limits(double now, bool loops);
  ThoughtStep close(ThoughtEnd reason);
  ThoughtStep decide(double now, bool loops);

  ThoughtLimits limits_;
  std::int64_t room_last_;  ///< tokens of the generation after which the thought is closed at once
  Phase phase_ = Phase::answer;
  text::SentenceEnd sentence_;
  LoopDetector loops_{kAnswerLoop};
  ThoughtEnd end_ = ThoughtEnd::none;
  bool asked_ = false;
  bool loop_ = false;
  bool opened_by_model_ = false;
  double opened_at_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t thought_tokens_ = 0;
  std::optional<ThoughtEnd> reason_;  ///< why the thought is to end after its sentence
  std::int64_t thought_last_ = 0;     ///< tokens of the thought after which it is closed at once
};

}  // namespace r1::engine
