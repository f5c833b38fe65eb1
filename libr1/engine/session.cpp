// A conversation: messages to prompt, prompt to request, result back into the history.
#include "libr1/engine/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libr1/text/well_known_tokens.hpp"
#include "r1/error.hpp"

namespace r1 {
namespace engine {

SessionImpl::SessionImpl(std::shared_ptr<Loop> loop, GenerationOptions options)
    : loop_(std::move(loop)), client_(loop_->new_client()) {
  set_options(std::move(options));
}

SessionImpl::~SessionImpl() {
  end_current();
  if (ahead_) ahead_->cancel();
}

void SessionImpl::set_options(GenerationOptions options) {
  // Checked now, so that a mistake shows where it was made.
  sampling::make_params(loop_->model().resolve(options.sampling), vocab());
  TextPipeline(*loop_->model().impl().text_tokenizer, ThoughtMode::raw, options.stop);
  if (options.max_tokens < -1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("max_tokens: expected -1 or more, got {}", options.max_tokens));
  }
  check_think_budget(options);
  if (options.top_logprobs != -1) {
    sampling::Logprobs(options.top_logprobs, loop_->model().impl().samplable);
  }
  std::shared_ptr<const sampling::Constraint> constraint;
  if (!options.json_schema.empty()) {
    constraint = sampling::Constraint::from_schema(loop_->token_trie(), options.json_schema);
  } else if (options.json) {
    constraint = sampling::Constraint::any_object(loop_->token_trie());
  }
  constraint_ = std::move(constraint);
  options_ = std::move(options);
}

void SessionImpl::system(std::string text) {
  end_current();
  const bool begun = std::any_of(messages_.begin(), messages_.end(),
                                 [](const Message& message) { return message.role != "system"; });
  if (begun) {
    throw Error(ErrorCode::invalid_argument,
                "system prompt: expected before the first message, got after it (reset first)");
  }
  messages_.clear();
  messages_.push_back({.role = "system", .content = std::move(text)});
}

void SessionImpl::add(std::vector<Message> messages) {
  end_current();
  const auto start = Clock::now();
  const std::size_t before = messages_.size();
  for (Message& message : messages) messages_.push_back(std::move(message));
  try {
    RenderedPrompt prompt = render(true);
    auto ids = loop_->model().impl().text_tokenizer->encode_prompt(prompt.pieces);
    while (overflows(ids.size()) && drop_turn()) {
      prompt = render(true);
      ids = loop_->model().impl().text_tokenizer->encode_prompt(prompt.pieces);
    }
    begin(std::move(ids), prompt.starts_in_thought ? ThoughtMode::started : ThoughtMode::detect,
          start);
  } catch (...) {
    messages_.resize(before);
    dropped_ = std::min(dropped_, before);
    throw;
  }
}

std::size_t SessionImpl::first_turn() const {
  return !messages_.empty() && messages_.front().role == "system" ? 1 : 0;
}

RenderedPrompt SessionImpl::render(bool add_generation_prompt) const {
  const ChatTemplateOptions how{.add_generation_prompt = add_generation_prompt,
                                .enable_thinking = options_.enable_thinking};
  if (dropped_ == 0) return loop_->model().chat_template().render(messages_, how);
  const auto first = static_cast<std::ptrdiff_t>(first_turn());
  std::vector<Message> kept(messages_.begin(), messages_.begin() + first);
  kept.insert(kept.end(), messages_.begin() + first + static_cast<std::ptrdiff_t>(dropped_),
              messages_.end());
  return loop_->model().chat_template().render(kept, how);
}

bool SessionImpl::overflows(std::size_t prompt) const {
  if (options_.overflow != Overflow::drop_oldest_turns) return false;
  constexpr std::int64_t kAnswerShare = 4;
  const std::int64_t context = loop_->context();
  std::int64_t answer = context / kAnswerShare;
  if (options_.max_tokens >= 0) answer = std::min(answer, options_.max_tokens);
  return static_cast<std::int64_t>(prompt) + std::max<std::int64_t>(answer, 1) > context;
}

// A turn goes from one user message to the next.
bool SessionImpl::drop_turn() {
  std::size_t next = first_turn() + dropped_ + 1;
  while (next < messages_.size() && messages_[next].role != "user") ++next;
  if (next >= messages_.size()) return false;
  dropped_ = next - first_turn();
  return true;
}

void SessionImpl::complete(std::string_view text, bool parse_special) {
  end_current();
  const auto start = Clock::now();
  const PromptPiece piece{std::string(text), parse_special};
  begin(loop_->model().impl().text_tokenizer->encode_prompt(std::span(&piece, 1)), ThoughtMode::raw,
        start);
}

void SessionImpl::complete(std::vector<TokenId> ids) {
  end_current();
  begin(std::move(ids), ThoughtMode::raw, Clock::now());
}

void SessionImpl::begin(std::vector<TokenId> prompt, ThoughtMode mode, Clock::time_point start) {
  if (prompt.empty()) {
    throw Error(ErrorCode::invalid_argument, "prompt: expected at least one token, got none");
  }
  for (const TokenId id : prompt) {
    if (id < 0 || id >= vocab()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("prompt: expected token ids from 0 to {}, got {}", vocab() - 1, id));
    }
  }
  const std::int64_t context = loop_->context();
  const auto length = static_cast<std::int64_t>(prompt.size());
  Scheduler::admit(length, loop_->budget().pages);
  if (length + 1 > context) {
    throw Error(ErrorCode::context_length_exceeded,
                fmt::format("prompt: expected at most {} tokens (context {}), got {}", context - 1,
                            context, length));
  }
  std::int64_t max_tokens = context - length;
  if (options_.max_tokens >= 0) max_tokens = std::min(max_tokens, options_.max_tokens);

  chat_ = mode != ThoughtMode::raw;
  auto request = std::make_shared<Request>(
      RequestSpec{runtime::KvSequence(loop_->pool(), loop_->share_key(options_.cache_key)),
                  std::move(prompt), max_tokens, options_.ignore_eos, thought_limits(max_tokens),
                  client_, options_.priority, false, start, events_},
      parts(mode));
  {
    const std::scoped_lock lock(request_mutex_);
    request_ = std::move(request);
  }
  result_ = {};
  if (max_tokens == 0) request_->finish(FinishReason::length);
  if (!request_->over()) loop_->submit(request_);
}

ThoughtLimits SessionImpl::thought_limits(std::int64_t room) const {
  const PromptPiece closing{"\n</think>\n\n", true};
  const auto tokens = loop_->model().impl().text_tokenizer->encode(std::span(&closing, 1)).size();
  const bool bounded = options_.think_budget_tokens || options_.think_budget_seconds;
  return {.budget_tokens = options_.think_budget_tokens,
          .budget_s = options_.think_budget_seconds,
          .room = room,
          .reserve = bounded ? answer_reserve(room) : 0,
          .closing_tokens = static_cast<std::int64_t>(tokens),
          .stop_loops = !options_.ignore_eos};
}

RequestParts SessionImpl::parts(ThoughtMode mode) const {
  const model::LoadedModel& model = loop_->model().impl();
  RequestParts parts{
      model.text_tokenizer.get(),
      sampling::Chain(sampling::make_params(loop_->model().resolve(options_.sampling), vocab()),
                      model.samplable),
      TextPipeline(*model.text_tokenizer, mode, options_.stop)};
  if (options_.top_logprobs >= 0) parts.logprobs.emplace(options_.top_logprobs, model.samplable);
  if (!constraint_) return parts;
  parts.constraint.emplace(constraint_);
  const bool may_think = options_.think_budget_tokens != 0 && options_.think_budget_seconds != 0;
  const TokenId opener = model.text_tokenizer->find(text::kThinkOpen);
  if (mode == ThoughtMode::detect && may_think && opener >= 0 &&
      (*model.samplable)[static_cast<std::size_t>(opener)]) {
    parts.thought_opener = opener;
  }
  return parts;
}

std::optional<Piece> SessionImpl::next() {
  if (!request_) return std::nullopt;
  auto piece = request_->wait_piece();
  if (!piece) collect_result();
  return piece;
}

void SessionImpl::collect_result() {
  result_ = request_->wait_result();
  result_.dropped_messages = static_cast<std::int64_t>(dropped_);
  {
    const std::scoped_lock lock(request_mutex_);
    request_.reset();
  }
  if (chat_) {
    messages_.push_back(
        {.role = "assistant", .content = result_.text, .reasoning_content = result_.reasoning});
    prepare_next();
  }
}

// The next turn shows the answer without its thought, so that part of the history is new to the
// cache. A template or a context that does not allow it is for the next turn to tell.
void SessionImpl::prepare_next() {
  if (events_.on_end || result_.reasoning.empty() || result_.finish_reason == FinishReason::error)
    return;
  try {
    const RenderedPrompt history = render(false);
    auto prompt = loop_->model().impl().text_tokenizer->encode_prompt(history.pieces);
    const auto length = static_cast<std::int64_t>(prompt.size());
    if (length == 0 || length + 1 > loop_->context()) return;
    ahead_ = std::make_shared<Request>(
        RequestSpec{runtime::KvSequence(loop_->pool(), loop_->share_key(options_.cache_key)),
                    std::move(prompt),
                    1,
                    true,
                    thought_limits(1),
                    client_,
                    0,
                    true,
                    Clock::now(),
                    {}},
        parts(ThoughtMode::raw));
    loop_->submit(ahead_);
  } catch (const Error&) {
  }
}

void SessionImpl::end_current() {
  if (!request_) return;
  request_->cancel();
  collect_result();
}

void SessionImpl::stop() {
  const std::scoped_lock lock(request_mutex_);
  if (request_) request_->cancel();
}

void SessionImpl::end_thought() {
  const std::scoped_lock lock(request_mutex_);
  if (request_) request_->end_thought();
}

void SessionImpl::reset() {
  end_current();
  messages_.clear();
  dropped_ = 0;
  result_ = {};
}

}  // namespace engine

Session::Session(std::unique_ptr<engine::SessionImpl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

void Session::system(std::string text) { impl_->system(std::move(text)); }
void Session::user(std::string text) {
  std::vector<Message> messages(1);
  messages[0].role = "user";
  messages[0].content = std::move(text);
  impl_->add(std::move(messages));
}
void Session::messages(std::vector<Message> messages) { impl_->add(std::move(messages)); }
void Session::complete(std::string_view text, bool parse_special) {
  impl_->complete(text, parse_special);
}
void Session::complete(std::vector<TokenId> ids) { impl_->complete(std::move(ids)); }
void Session::options(GenerationOptions options) { impl_->set_options(std::move(options)); }
std::optional<Piece> Session::next() { return impl_->next(); }
void Session::stop() { impl_->stop(); }
void Session::end_thought() { impl_->end_thought(); }
const Generation& Session::result() const { return impl_->result(); }
const std::vector<Message>& Session::history() const { return impl_->messages(); }
void Session::reset() { impl_->reset(); }

}  // namespace r1
