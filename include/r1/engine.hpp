// Running a model: one engine, any number of conversations.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "r1/generation.hpp"
#include "r1/model.hpp"

namespace r1 {

/// How keys and values are held.
enum class KvType {
  f32,  ///< 4 bytes a value
  f16,  ///< 2 bytes
  q8,   ///< 1 byte, and one 16-bit scale a token and KV head
};

/// "f32", "f16", "q8".
const char* to_string(KvType type);

/// How an engine runs. 0 means: chosen by the engine.
struct EngineOptions {
  int threads = 0;              ///< decode threads; default: physical cores this process may use
  int threads_batch = 0;        ///< prefill threads; default: the same
  std::int64_t kv_tokens = 0;   ///< longest conversation in tokens; default min(trained, 32768).
                                ///< Pages are committed as used
  std::int64_t batch_size = 0;  ///< prefill chunk in tokens; default 512
  KvType kv_type = KvType::f16;
  std::int64_t kv_memory = 0;  ///< bytes that all conversations' keys and values may take; default
                               ///< 64 conversations of kv_tokens. At least one token's page
  double max_stall_s = 0.5;    ///< what the prefill of others may add between two tokens of a
                               ///< running answer, in seconds, > 0
  std::string isa = {};        ///< "baseline", "avx2", "avx_vnni", "avx512_vnni", "neon_dotprod";
                               ///< default: the best this CPU has
  std::function<void(std::string_view line)> on_warning = {};  ///< one line each
  /// Prompt tokens processed so far, after each chunk; called on the loop thread, must not throw.
  std::function<void(std::int64_t done, std::int64_t total)> on_prefill = {};
};

/// What an engine settled on.
struct EngineInfo {
  std::string isa;  ///< instruction tier in use
  int threads = 0;
  int threads_batch = 0;
  std::string threads_reason;  ///< why that many, for example "2 physical cores"
  std::int64_t kv_tokens = 0;
  KvType kv_type = KvType::f16;
  std::int64_t kv_memory = 0;       ///< bytes that keys and values may take in all
  std::int64_t kv_token_bytes = 0;  ///< bytes of one token's keys and values
};

/// Keys and values in memory, by pages of 16 tokens. free + used + cached = capacity.
struct KvUsage {
  std::int64_t page_bytes = 0;
  std::int64_t capacity = 0;       ///< pages there may be
  std::int64_t free = 0;           ///< without content
  std::int64_t used = 0;           ///< of running generations
  std::int64_t cached = 0;         ///< of known content, for prompts that begin alike
  std::int64_t shared = 0;         ///< of the used ones: by two generations or more
  std::int64_t evicted = 0;        ///< cached pages that were given up, ever
  std::int64_t tokens_reused = 0;  ///< prompt tokens that did not have to be computed, ever
  std::int64_t bytes_saved = 0;    ///< that would be used more now if nothing were shared
};

namespace engine {
class EngineImpl;
class SessionImpl;
}  // namespace engine

/// One conversation. Not thread-safe, but stop() and end_thought() may be called from any thread.
/// Its KV pages are in use while an answer is being generated; then they are cache, which the next
/// turn starts from; the history without the answer's thought is added to it in idle time. Movable.
class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Sets the system prompt. Only before the first user message.
  void system(std::string text);
  /// Adds a user message; next() then generates the answer. Throws Error{context_length_exceeded}
  /// when the prompt does not fit, Error{template_error} from the template.
  void user(std::string text);
  /// Adds messages as they are (history of a client); the last one should be the user's.
  void messages(std::vector<Message> messages);
  /// Completes raw text without a template; with `parse_special` added tokens in it are recognised.
  /// BOS is added when the model wants one and the text does not start with it.
  void complete(std::string_view text, bool parse_special = false);
  /// Completes token ids as they are.
  void complete(std::vector<TokenId> ids);

  /// Options of the generations that start from now on.
  void options(GenerationOptions options);
  /// Blocks until more text is there; empty at the end of the answer. Never throws on account of
  /// the model.
  std::optional<Piece> next();
  /// The running answer's pieces as a range, each taken from next(): `for (const Piece& piece :
  /// session)`. Can be gone through once.
  class Iterator;
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }
  /// Stops the running answer within one step; what came so far stays in the history.
  void stop();
  /// Ends the running answer's thought at once: the answer follows. Does nothing outside a thought.
  void end_thought();
  /// The finished generation, after next() returned empty.
  const Generation& result() const;
  /// The conversation so far.
  const std::vector<Message>& history() const;
  /// Forgets the conversation, the system prompt included.
  void reset();

 private:
  friend class Engine;
  explicit Session(std::unique_ptr<engine::SessionImpl> impl);
  std::unique_ptr<engine::SessionImpl> impl_;
};

/// An input iterator over a session's pieces.
class Session::Iterator {
 public:
  using value_type = Piece;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(Session& session) : session_(&session), piece_(session.next()) {}
  const Piece& operator*() const { return *piece_; }
  const Piece* operator->() const { return &*piece_; }
  Iterator& operator++() {
    piece_ = session_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& iterator, std::default_sentinel_t) {
    return !iterator.piece_;
  }

 private:
  Session* session_;
  std::optional<Piece> piece_;
};

inline Session::Iterator Session::begin() { return Iterator(*this); }

/// What a submitted generation tells, on the engine's loop thread: every running generation waits
/// for these functions, so they return soon, do not throw and do not wait for the engine.
struct GenerationEvents {
  std::function<void(const Piece& piece)> on_piece = {};
  std::function<void(const Generation& generation)> on_end = {};  ///< the last that is called
};

/// A generation that runs by itself. cancel() and end_thought() may be called from any thread.
/// Destroying it cancels it and waits for its end. Movable.
class Submission {
 public:
  Submission(Submission&&) noexcept;
  Submission& operator=(Submission&&) noexcept;
  ~Submission();

  /// Ends it within one step.
  void cancel();
  /// Ends its thought at once.
  void end_thought();
  /// Blocks until it is over. Not thread-safe, not for the functions of GenerationEvents.
  const Generation& wait();

 private:
  friend class Engine;
  explicit Submission(std::unique_ptr<engine::SessionImpl> impl);
  std::unique_ptr<engine::SessionImpl> impl_;
};

/// Owns the KV pool, the workspace and one loop thread. Thread-safe. Outlives its sessions.
class Engine {
 public:
  explicit Engine(Model model, EngineOptions options = {});
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Starts a conversation.
  Session open_session(GenerationOptions options = {});
  /// Answers a conversation while the caller goes on. Throws as Session::messages() and
  /// open_session(); what comes later is told with the result.
  Submission submit(std::vector<Message> messages, GenerationOptions options = {},
                    GenerationEvents events = {});
  /// Answers many conversations at once; results in their order. Throws, before any has begun, as
  /// submit().
  std::vector<Generation> generate(std::vector<std::vector<Message>> conversations,
                                   const GenerationOptions& options = {});
  const Model& model() const;
  const EngineInfo& info() const;
  KvUsage kv_usage() const;

 private:
  std::unique_ptr<engine::EngineImpl> impl_;
};

}  // namespace r1
