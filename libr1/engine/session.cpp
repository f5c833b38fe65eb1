// A conversation: messages to prompt, prompt to request, result back into the history.
#include "libr1/engine/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libr1/engine/thought_control.hpp"
#include "r1/error.hpp"

namespace r1 {
namespace engine {

SessionImpl::SessionImpl(std::shared_ptr<Loop> loop, GenerationOptions options)
    : loop_(std::move(loop)), sequence_(std::make_shared<runtime::KvSequence>(loop_->pool())) {
  set_options(std::move(options));
}

SessionImpl::~SessionImpl() { end_current(); }

void SessionImpl::set_options(GenerationOptions options) {
  // Checked now, so that a mistake shows where it was made.
  sampling::make_params(loop_->model().resolve(options.sampling), vocab());
  TextPipeline(*loop_->model().impl().text_tokenizer, ThoughtMode::raw, options.stop);
  if (options.max_tokens < -1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("max_tokens: expected -1 or more, got {}", options.max_tokens));
  }
  check_think_budget(options);
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
    const RenderedPrompt prompt = loop_->model().chat_template().render(
        messages_, {.enable_thinking = options_.enable_thinking});
    begin(loop_->model().impl().text_tokenizer->encode_prompt(prompt.pieces),
          prompt.starts_in_thought ? ThoughtMode::started : ThoughtMode::detect, start);
  } catch (...) {
    messages_.resize(before);
    throw;
  }
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
  const std::int64_t context = loop_->settings().kv_tokens;
  const auto length = static_cast<std::int64_t>(prompt.size());
  if (length + 1 > context) {
    throw Error(ErrorCode::context_length_exceeded,
                fmt::format("prompt: expected at most {} tokens (context {}), got {}", context - 1,
                            context, length));
  }
  std::int64_t max_tokens = context - length;
  if (options_.max_tokens >= 0) max_tokens = std::min(max_tokens, options_.max_tokens);

  const model::LoadedModel& model = loop_->model().impl();
  sampling::Chain chain(sampling::make_params(loop_->model().resolve(options_.sampling), vocab()),
                        model.samplable);
  chat_ = mode != ThoughtMode::raw;
  auto request = std::make_shared<Request>(
      RequestSpec{sequence_, std::move(prompt), max_tokens, options_.ignore_eos, start},
      std::move(chain), TextPipeline(*model.text_tokenizer, mode, options_.stop));
  {
    const std::scoped_lock lock(request_mutex_);
    request_ = std::move(request);
  }
  result_ = {};
  if (max_tokens == 0) {
    request_->finish(FinishReason::length);
  } else {
    loop_->submit(request_);
  }
}

std::optional<Piece> SessionImpl::next() {
  if (!request_) return std::nullopt;
  auto piece = request_->wait_piece();
  if (!piece) collect_result();
  return piece;
}

void SessionImpl::collect_result() {
  result_ = request_->wait_result();
  {
    const std::scoped_lock lock(request_mutex_);
    request_.reset();
  }
  if (chat_) {
    messages_.push_back(
        {.role = "assistant", .content = result_.text, .reasoning_content = result_.reasoning});
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

void SessionImpl::reset() {
  end_current();
  messages_.clear();
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
const Generation& Session::result() const { return impl_->result(); }
const std::vector<Message>& Session::history() const { return impl_->messages(); }
void Session::reset() { impl_->reset(); }

}  // namespace r1
