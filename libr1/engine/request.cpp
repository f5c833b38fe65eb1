// A request's state machine: prefill, then one token a step, then over.
#include "libr1/engine/request.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace r1 {

const char* to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::cancelled:
      return "cancelled";
    case FinishReason::error:
      return "error";
  }
  return "";
}

namespace engine {
namespace {

// Tokens that memory is taken for at once.
constexpr std::int64_t kTokensExpected = 4096;

/// Of the scheduler's and the thought's clock.
double seconds(Clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

Request::Request(RequestSpec spec, RequestParts parts)
    : sequence_(std::move(spec.sequence)),
      history_(spec.prompt),
      max_tokens_(spec.max_tokens),
      ignore_eos_(spec.ignore_eos),
      ahead_(spec.ahead),
      events_(std::move(spec.events)),
      thought_(spec.thought),
      parts_(std::move(parts)),
      ledger_(spec.start, std::min<std::int64_t>(max_tokens_, kTokensExpected)) {
  scheduled_.client = spec.client;
  scheduled_.priority = spec.priority;
  scheduled_.since = seconds(spec.start);
  result_.prompt_token_ids = std::move(spec.prompt);
  result_.seed = parts_.chain.params().seed;
  // Nothing is allocated for tokens in a step.
  const auto expected = static_cast<std::size_t>(std::min(max_tokens_, kTokensExpected));
  history_.reserve(history_.size() + expected);
  result_.token_ids.reserve(expected);
  // A thought that may have no token is closed before the prompt is computed.
  if (spec.thought.budget_tokens == 0 || spec.thought.budget_s == 0) begin_thought();
}

std::optional<Piece> Request::wait_piece() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return over_ || !pieces_.empty(); });
  if (pieces_.empty()) return std::nullopt;
  Piece piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

Generation Request::wait_result() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return over_; });
  return std::move(result_);
}

bool Request::over() {
  const std::scoped_lock lock(mutex_);
  return over_;
}

ScheduledRequest& Request::scheduled() {
  scheduled_.position = position();
  scheduled_.pending = static_cast<std::int64_t>(pending().size());
  scheduled_.generating = !prefilling();
  scheduled_.pages_held = sequence_.pages_held();
  scheduled_.pages_exclusive = sequence_.pages_exclusive();
  const std::int64_t room = scheduled_.pages_held * kernels::kPageTokens;
  scheduled_.pages_copied = position() < room ? sequence_.pages_wanted(position() + 1) : 0;
  return scheduled_;
}

void Request::attach() {
  sequence_.expect(static_cast<std::int64_t>(history_.capacity()));
  const std::int64_t known = sequence_.attach(history_);
  if (!attached_) result_.cached_tokens = std::min(known, prompt_tokens());
  attached_ = true;
  ledger_.begin();
}

void Request::computed(std::int64_t count, double ms) {
  sequence_.computed(pending().first(static_cast<std::size_t>(count)));
  ledger_.computed(count, ms);
  ledger_.held(sequence_.pages_held());
}

bool Request::begin_thought() {
  begun_ = true;
  if (thought_unwanted_) thought_.end_thought();
  return thought_.begin(parts_.text.in_thought(), seconds(Clock::now())) ==
             ThoughtStep::close_thought &&
         close_thought();
}

bool Request::close_thought() {
  const PromptPiece closing{std::string(thought_.closing_text()), true};
  for (const TokenId id : parts_.tokenizer->encode(std::span(&closing, 1))) {
    if (take(id, true)) return true;
  }
  return false;
}

std::span<const std::uint64_t> Request::allowed() {
  if (!parts_.constraint || parts_.text.in_thought()) return {};
  const std::span<const std::uint64_t> mask = parts_.constraint->allowed();
  if (generated_ > 0 || parts_.thought_opener < 0) return mask;
  first_allowed_.assign(mask.begin(), mask.end());
  const auto opener = static_cast<std::size_t>(parts_.thought_opener);
  first_allowed_[opener / 64] |= std::uint64_t{1} << opener % 64;
  return first_allowed_;
}

bool Request::choose(std::span<const float> logits) {
  if (!begun_) {
    const std::int64_t generated = generated_;
    if (begin_thought()) return true;
    // What was forced comes first, and has to be computed.
    if (generated_ > generated) return false;
  }
  const std::span<const std::uint64_t> mask = allowed();
  const auto before = Clock::now();
  const sampling::Choice choice = parts_.chain.choose(logits, history_, mask);
  if (!choice.finite) {
    // Broken keys and values must not serve the next prompt.
    sequence_.forget();
    finish(
        FinishReason::error,
        fmt::format("logits at position {}: expected finite numbers, got NaN or infinity (damaged "
                    "weights?)",
                    history_.size() - 1));
    return true;
  }
  ledger_.chosen(std::chrono::duration<double, std::milli>(Clock::now() - before).count());
  if (!ignore_eos_ && parts_.tokenizer->is_end_of_generation(choice.id)) {
    ledger_.took(false);
    finish(FinishReason::stop);
    return true;
  }
  if (parts_.logprobs) result_.logprobs.push_back(parts_.logprobs->of(logits, choice.id));
  const bool constrained = !mask.empty() && choice.id != parts_.thought_opener;
  if (constrained) parts_.constraint->accept(choice.id);
  if (take(choice.id, false)) return true;
  if (constrained && parts_.constraint->must_end()) {
    finish(FinishReason::stop);
    return true;
  }
  return false;
}

bool Request::take(TokenId id, bool forced) {
  ++generated_;
  history_.push_back(id);
  result_.token_ids.push_back(id);
  if (forced && parts_.logprobs) result_.logprobs.push_back({id, 0, {}});
  const bool thought = parts_.text.in_thought();
  emit(parts_.text.accept(id));
  ledger_.took(thought || parts_.text.in_thought());
  if (parts_.text.stopped()) {
    finish(FinishReason::stop);
    return true;
  }
  if (generated_ == max_tokens_) {
    finish(FinishReason::length);
    return true;
  }
  if (thought_unwanted_) thought_.end_thought();
  const bool visible = parts_.tokenizer->is_visible(id);
  const GeneratedToken token{
      id, visible ? std::string_view(parts_.tokenizer->bytes(id)) : std::string_view(),
      parts_.text.in_thought()};
  switch (thought_.accept(token, seconds(Clock::now()))) {
    case ThoughtStep::proceed:
      return false;
    case ThoughtStep::close_thought:
      return close_thought();
    case ThoughtStep::end_generation:
      finish(FinishReason::length);
      return true;
  }
  return false;
}

void Request::emit(std::vector<Piece> pieces) {
  if (pieces.empty()) return;
  for (const Piece& piece : pieces) {
    (piece.kind == PieceKind::thought ? result_.reasoning : result_.text) += piece.text;
    if (events_.on_piece) events_.on_piece(piece);
  }
  if (events_.on_piece) return;
  const std::scoped_lock lock(mutex_);
  for (Piece& piece : pieces) pieces_.push_back(std::move(piece));
  changed_.notify_all();
}

void Request::finish(FinishReason reason, const std::string& error) {
  emit(parts_.text.finish());
  // A stop string can complete only now, when what was held back comes out.
  const FinishReason final_reason =
      parts_.text.stopped() && reason != FinishReason::error ? FinishReason::stop : reason;
  release();  // its pages are cache from now on
  result_.finish_reason = final_reason;
  result_.thought_end = thought_.thought_end();
  result_.loop = thought_.loop();
  result_.error = error;
  result_.timings = ledger_.timings();
  if (events_.on_end) events_.on_end(result_);
  const std::scoped_lock lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

}  // namespace engine
}  // namespace r1
