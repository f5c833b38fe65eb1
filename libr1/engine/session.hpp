// What a Session handle points at.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/engine/loop.hpp"
#include "r1/engine.hpp"

namespace r1::engine {

/// One conversation; see Session for the contract. It keeps the loop alive.
class SessionImpl {
 public:
  SessionImpl(std::shared_ptr<Loop> loop, GenerationOptions options);
  ~SessionImpl();
  SessionImpl(const SessionImpl&) = delete;
  SessionImpl& operator=(const SessionImpl&) = delete;

  void set_options(GenerationOptions options);
  /// Pieces and results go to `events` from now on, and next() gives none.
  void set_events(GenerationEvents events) { events_ = std::move(events); }
  void system(std::string text);
  void add(std::vector<Message> messages);
  void complete(std::string_view text, bool parse_special);
  void complete(std::vector<TokenId> ids);
  std::optional<Piece> next();
  void stop();
  void end_thought();
  void reset();
  const Generation& result() const { return result_; }
  const std::vector<Message>& messages() const { return messages_; }

 private:
  std::int64_t vocab() const { return loop_->model().impl().config.vocab; }
  void begin(std::vector<TokenId> prompt, ThoughtMode mode, Clock::time_point start);
  /// The conversation as the model is to see it.
  RenderedPrompt render(bool add_generation_prompt) const;
  /// Index of the first message that is not the system prompt.
  std::size_t first_turn() const;
  /// Whether a prompt of so many tokens is to be made shorter.
  bool overflows(std::size_t prompt) const;
  /// Leaves out the oldest turn still shown; false when it is the last.
  bool drop_turn();
  ThoughtLimits thought_limits(std::int64_t room) const;
  RequestParts parts(ThoughtMode mode) const;
  void collect_result();
  void end_current();
  /// Has the history's keys and values computed in idle time.
  void prepare_next();

  std::shared_ptr<Loop> loop_;
  std::uint64_t client_;
  GenerationOptions options_;
  GenerationEvents events_;
  std::shared_ptr<const sampling::Constraint> constraint_;  ///< as options_ want it, or null
  std::vector<Message> messages_;
  std::size_t dropped_ = 0;           ///< messages behind the system prompt that are left out
  std::mutex request_mutex_;          ///< for stop() and end_thought(), which any thread may call
  std::shared_ptr<Request> request_;  ///< the running generation
  std::shared_ptr<Request> ahead_;    ///< what prepare_next() asked for
  bool chat_ = false;                 ///< its answer belongs into messages_
  Generation result_;
};

}  // namespace r1::engine
