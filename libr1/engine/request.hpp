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
#include <vector>

#include "libr1/engine/text_pipeline.hpp"
#include "libr1/runtime/kv_sequence.hpp"
#include "libr1/sampling/chain.hpp"
#include "r1/generation.hpp"

namespace r1::engine {

using Clock = std::chrono::steady_clock;

/// What a request needs to start.
struct RequestSpec {
  std::shared_ptr<runtime::KvSequence> sequence;
  std::vector<TokenId> prompt;  ///< not empty, ids within the vocabulary
  std::int64_t max_tokens = 0;  ///< >= 1
  bool ignore_eos = false;
  Clock::time_point start;  ///< when the caller gave the prompt
};

/// The loop thread works on it; the session waits for its pieces. Members say which side they
/// belong to.
class Request {
 public:
  Request(RequestSpec spec, sampling::Chain chain, TextPipeline text);

  // Session's side, any thread.

  /// Blocks for the next piece; empty at the end.
  std::optional<Piece> wait_piece();
  /// Blocks until the generation is over and takes its result.
  Generation wait_result();
  /// Asks the loop to end it.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // Loop thread's side.

  /// Starts from what is known of the prompt's beginning; the last prompt token is always computed.
  void reuse_prefix();
  /// Tokens whose keys and values are still to be computed.
  std::span<const TokenId> pending() const {
    return std::span(history_).subspan(sequence_->tokens().size());
  }
  runtime::KvSequence& kv() { return *sequence_; }
  std::int64_t position() const { return static_cast<std::int64_t>(sequence_->tokens().size()); }
  /// True until the first token was chosen.
  bool prefilling() const { return generated_ == 0; }
  std::int64_t prompt_tokens() const {
    return static_cast<std::int64_t>(result_.prompt_token_ids.size());
  }
  /// Notes that `count` pending tokens were computed in a step of `ms`.
  void computed(std::int64_t count, double ms);
  /// Chooses the next token from `logits`. True when the generation is over.
  bool choose(std::span<const float> logits, const text::Tokenizer& tokenizer);
  /// Ends the generation.
  void finish(FinishReason reason, const std::string& error = {});

 private:
  void emit(std::vector<Piece> pieces);
  void fill_timings();

  std::shared_ptr<runtime::KvSequence> sequence_;
  std::vector<TokenId> history_;  ///< prompt and generated tokens
  std::int64_t max_tokens_;
  bool ignore_eos_;
  sampling::Chain chain_;
  TextPipeline text_;
  std::int64_t generated_ = 0;
  double prefill_ms_ = 0;
  std::int64_t prefilled_ = 0;
  Clock::time_point start_, first_token_, last_token_;
  std::atomic<bool> cancelled_{false};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;
  bool over_ = false;
  Generation result_;
};

}  // namespace r1::engine
