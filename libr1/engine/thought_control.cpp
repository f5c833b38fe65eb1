// Limits first, then the place: a thought is closed when a limit was passed and a sentence ends, or
// when its grace is used up.
#include "libr1/engine/thought_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "r1/error.hpp"

namespace r1 {

const char* to_string(ThoughtEnd end) {
  switch (end) {
    case ThoughtEnd::none:
      return "none";
    case ThoughtEnd::model:
      return "model";
    case ThoughtEnd::budget:
      return "budget";
    case ThoughtEnd::loop:
      return "loop";
    case ThoughtEnd::user:
      return "user";
  }
  return "";
}

namespace engine {
namespace {

constexpr std::int64_t kReserveMax = 256;
constexpr std::int64_t kGraceMin = 32;
constexpr std::int64_t kGraceMax = 128;
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

std::int64_t last_token_in_room(const ThoughtLimits& limits) {
  if (limits.reserve == 0 || limits.room <= limits.closing_tokens) return kUnbounded;
  return std::max<std::int64_t>(0, limits.room - limits.reserve - limits.closing_tokens);
}

}  // namespace

void check_think_budget(const GenerationOptions& options) {
  if (options.think_budget_tokens && *options.think_budget_tokens < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("think_budget_tokens: expected 0 or more, got {}",
                            *options.think_budget_tokens));
  }
  if (options.think_budget_seconds &&
      !(std::isfinite(*options.think_budget_seconds) && *options.think_budget_seconds >= 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("think_budget_seconds: expected a finite number, 0 or more, got {}",
                            *options.think_budget_seconds));
  }
}

std::int64_t answer_reserve(std::int64_t room) { return std::min(kReserveMax, room / 4); }

std::int64_t sentence_grace(std::int64_t tokens) {
  return std::clamp(tokens / 10, kGraceMin, kGraceMax);
}

ThoughtControl::ThoughtControl(const ThoughtLimits& limits)
    : limits_(limits), room_last_(last_token_in_room(limits)) {}

ThoughtStep ThoughtControl::begin(bool in_thought, double now) {
  if (!in_thought) return ThoughtStep::proceed;
  open_thought(now);
  return decide(now, false);
}

ThoughtStep ThoughtControl::accept(const GeneratedToken& token, double now) {
  ++tokens_;
  if (phase_ != Phase::answer && !token.in_thought) {
    if (phase_ == Phase::thought) end_ = ThoughtEnd::model;
    phase_ = Phase::answer;
    loops_.reset(kAnswerLoop);
    return ThoughtStep::proceed;
  }
  switch (phase_) {
    case Phase::closing:
      return ThoughtStep::proceed;
    case Phase::thought: {
      ++thought_tokens_;
      sentence_.feed(token.bytes);
      const bool loops = limits_.stop_loops && loops_.feed(token.id);
      return decide(now, loops);
    }
    case Phase::answer:
      break;
  }
  if (token.in_thought) {
    opened_by_model_ = true;
    open_thought(now);
    return decide(now, false);
  }
  if (!limits_.stop_loops || !loops_.feed(token.id)) return ThoughtStep::proceed;
  loop_ = true;
  return ThoughtStep::end_generation;
}

void ThoughtControl::open_thought(double now) {
  phase_ = Phase::thought;
  opened_at_ = now;
  loops_.reset(kThoughtLoop);
}

void ThoughtControl::close_at_sentence(ThoughtEnd reason, std::int64_t last_token) {
  if (reason_) return;
  reason_ = reason;
  thought_last_ = last_token;
}

void ThoughtControl::look_at_limits(double now, bool loops) {
  if (limits_.budget_tokens && thought_tokens_ >= *limits_.budget_tokens) {
    const std::int64_t budget = *limits_.budget_tokens;
    close_at_sentence(ThoughtEnd::budget, budget + sentence_grace(budget));
  }
  if (limits_.budget_s && now - opened_at_ >= *limits_.budget_s) {
    close_at_sentence(ThoughtEnd::budget, thought_tokens_ + sentence_grace(thought_tokens_));
  }
  if (loops) {
    close_at_sentence(ThoughtEnd::loop, thought_tokens_ + sentence_grace(thought_tokens_));
  }
  // In little room half of it is still a thought without a limit.
  const std::int64_t before = std::min(sentence_grace(room_last_), room_last_ / 2);
  if (tokens_ >= room_last_ - before) close_at_sentence(ThoughtEnd::budget, kUnbounded);
}

ThoughtStep ThoughtControl::decide(double now, bool loops) {
  if (asked_) return close(ThoughtEnd::user);
  look_at_limits(now, loops);
  if (!reason_) return ThoughtStep::proceed;
  if (sentence_.at_end() || thought_tokens_ >= thought_last_ || tokens_ >= room_last_) {
    return close(*reason_);
  }
  return ThoughtStep::proceed;
}

ThoughtStep ThoughtControl::close(ThoughtEnd reason) {
  end_ = reason;
  phase_ = Phase::closing;
  return ThoughtStep::close_thought;
}

std::string_view ThoughtControl::closing_text() const {
  constexpr std::string_view kAfterTag = "\n\n</think>\n\n";
  if (thought_tokens_ == 0 && opened_by_model_) return kAfterTag;
  return kAfterTag.substr(sentence_.at_line_start() ? 2 : 1);
}

}  // namespace engine
}  // namespace r1
