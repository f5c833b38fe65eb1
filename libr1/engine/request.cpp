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

double ms_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

}  // namespace

Request::Request(RequestSpec spec, sampling::Chain chain, TextPipeline text)
    : sequence_(std::move(spec.sequence)),
      history_(spec.prompt),
      max_tokens_(spec.max_tokens),
      ignore_eos_(spec.ignore_eos),
      chain_(std::move(chain)),
      text_(std::move(text)),
      start_(spec.start) {
  result_.prompt_token_ids = std::move(spec.prompt);
  result_.seed = chain_.params().seed;
  // Nothing is allocated for tokens in a step.
  const auto expected = static_cast<std::size_t>(std::min<std::int64_t>(max_tokens_, 4096));
  history_.reserve(history_.size() + expected);
  result_.token_ids.reserve(expected);
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

void Request::reuse_prefix() {
  sequence_->expect(static_cast<std::int64_t>(history_.capacity()));
  result_.cached_tokens = sequence_->attach(history_);
}

void Request::computed(std::int64_t count, double ms) {
  sequence_->computed(pending().first(static_cast<std::size_t>(count)));
  if (prefilling()) {
    prefill_ms_ += ms;
    prefilled_ += count;
  }
}

bool Request::choose(std::span<const float> logits, const text::Tokenizer& tokenizer) {
  const sampling::Choice choice = chain_.choose(logits, history_);
  if (!choice.finite) {
    // Broken keys and values must not serve the next prompt.
    sequence_->forget();
    finish(
        FinishReason::error,
        fmt::format("logits at position {}: expected finite numbers, got NaN or infinity (damaged "
                    "weights?)",
                    history_.size() - 1));
    return true;
  }
  last_token_ = Clock::now();
  if (generated_++ == 0) first_token_ = last_token_;
  if (!ignore_eos_ && tokenizer.is_end_of_generation(choice.id)) {
    finish(FinishReason::stop);
    return true;
  }
  history_.push_back(choice.id);
  result_.token_ids.push_back(choice.id);
  emit(text_.accept(choice.id));
  if (text_.stopped()) {
    finish(FinishReason::stop);
    return true;
  }
  if (generated_ == max_tokens_) {
    finish(FinishReason::length);
    return true;
  }
  return false;
}

void Request::emit(std::vector<Piece> pieces) {
  if (pieces.empty()) return;
  const std::scoped_lock lock(mutex_);
  for (Piece& piece : pieces) {
    (piece.kind == PieceKind::thought ? result_.reasoning : result_.text) += piece.text;
    pieces_.push_back(std::move(piece));
  }
  changed_.notify_all();
}

void Request::fill_timings() {
  Timings& timings = result_.timings;
  timings.total_ms = ms_between(start_, Clock::now());
  timings.prefill_ms = prefill_ms_;
  if (prefill_ms_ > 0) {
    timings.prefill_tokens_per_s = static_cast<double>(prefilled_) * 1000 / prefill_ms_;
  }
  if (generated_ == 0) return;
  timings.ttft_ms = ms_between(start_, first_token_);
  timings.decode_ms = ms_between(first_token_, last_token_);
  if (timings.decode_ms > 0) {
    timings.decode_tokens_per_s = static_cast<double>(generated_ - 1) * 1000 / timings.decode_ms;
  }
}

void Request::finish(FinishReason reason, const std::string& error) {
  emit(text_.finish());
  // A stop string can complete only now, when what was held back comes out.
  const FinishReason final_reason =
      text_.stopped() && reason != FinishReason::error ? FinishReason::stop : reason;
  const std::scoped_lock lock(mutex_);
  result_.finish_reason = final_reason;
  result_.error = error;
  fill_timings();
  over_ = true;
  changed_.notify_all();
}

}  // namespace engine
}  // namespace r1
