// One generation on its way through the engine.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "libr1/engine/ledger.hpp"
#include "libr1/engine/scheduler.hpp"
#include "libr1/engine/text_pipeline.hpp"
#include "libr1/engine/thought_control.hpp"
#include "libr1/runtime/kv_sequence.hpp"
#include "libr1/sampling/chain.hpp"
#include "libr1/sampling/constraint.hpp"
#include "libr1/sampling/logprobs.hpp"
#include "r1/engine.hpp"
#include "r1/generation.hpp"

namespace r1::engine {

/// What a request needs to start.
struct RequestSpec {
  runtime::KvSequence sequence;  ///< empty
  std::vector<TokenId> prompt;   ///< not empty, ids within the vocabulary
  std::int64_t max_tokens = 0;   ///< >= 1
  bool ignore_eos = false;
  ThoughtLimits thought;
  std::uint64_t client = 0;  ///< whom the scheduler's turns are shared between
  int priority = 0;
  /// Only to have the prompt's keys and values at hand later: computed in idle time, nothing is
  /// generated.
  bool ahead = false;
  Clock::time_point start;       ///< when the caller gave the prompt
  GenerationEvents events = {};  ///< told instead of wait_piece()
};

/// How a request chooses tokens and what it makes of them.
struct RequestParts {
  const text::Tokenizer* tokenizer;
  sampling::Chain chain;
  TextPipeline text;
  std::optional<sampling::ConstraintState> constraint = {};  ///< of the answer
  TokenId thought_opener = -1;  ///< may come before a constrained answer; -1: none
  std::optional<sampling::Logprobs> logprobs = {};
};

/// The loop thread works on it; the session waits for its pieces. Members say which side they
/// belong to.
class Request {
 public:
  Request(RequestSpec spec, RequestParts parts);

  // Session's side, any thread.

  /// Blocks for the next piece; empty at the end.
  std::optional<Piece> wait_piece();
  /// Blocks until the generation is over and takes its result.
  Generation wait_result();
  /// Asks the loop to end it.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  /// True when it ended before it was submitted.
  bool over();
  /// Asks for the end of its thought.
  void end_thought() { thought_unwanted_.store(true, std::memory_order_relaxed); }

  /// Its number in the order of arrival, before it is the loop's.
  void arrive(std::uint64_t number) { scheduled_.arrival = number; }

  /// See RequestSpec::ahead.
  bool ahead() const { return ahead_; }

  // Loop thread's side.

  /// What the scheduler knows of it, up to date.
  ScheduledRequest& scheduled();
  /// Starts from what is known of its tokens' beginning; the last one is always computed.
  void attach();
  /// Gives its pages back, to start again later.
  void release() { sequence_.truncate(0); }
  /// Tokens whose keys and values are still to be computed.
  std::span<const TokenId> pending() const {
    return std::span(history_).subspan(sequence_.tokens().size());
  }
  runtime::KvSequence& kv() { return sequence_; }
  std::int64_t position() const { return static_cast<std::int64_t>(sequence_.tokens().size()); }
  /// True until the first token was chosen.
  bool prefilling() const { return !ledger_.any_chosen(); }
  std::int64_t prompt_tokens() const {
    return static_cast<std::int64_t>(result_.prompt_token_ids.size());
  }
  /// Notes that `count` pending tokens were computed in a step of `ms`.
  void computed(std::int64_t count, double ms);
  /// Chooses the next token from `logits`. True when the generation is over.
  bool choose(std::span<const float> logits);
  /// Ends the generation.
  void finish(FinishReason reason, const std::string& error = {});

 private:
  /// Closes a thought that is not to begin. True when the generation is over.
  bool begin_thought();
  /// The tokens that may come next; empty: all.
  std::span<const std::uint64_t> allowed();
  /// Takes a chosen or forced token. True when the generation is over.
  bool take(TokenId id, bool forced);
  bool close_thought();
  void emit(std::vector<Piece> pieces);

  runtime::KvSequence sequence_;
  std::vector<TokenId> history_;  ///< prompt and generated tokens
  std::int64_t max_tokens_;
  bool ignore_eos_;
  bool ahead_;
  GenerationEvents events_;
  ThoughtControl thought_;
  ScheduledRequest scheduled_;
  RequestParts parts_;
  sampling::TokenMask first_allowed_;
  bool begun_ = false;  ///< thought_ is
  bool attached_ = false;
  std::int64_t generated_ = 0;  ///< forced tokens included
  Ledger ledger_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> thought_unwanted_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;
  bool over_ = false;
  Generation result_;
};

}  // namespace r1::engine
