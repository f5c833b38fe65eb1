// One step serves every running sequence: a token for each that decodes, and prompt tokens of the
// others up to the batch size, first come first served.
#include "libr1/engine/loop.hpp"

#include <algorithm>

#include "libr1/base/float_environment.hpp"

namespace r1::engine {
namespace {

// Conversations of full length that the pool's bound allows for; memory is taken only as they grow.
constexpr std::int64_t kFullConversations = 64;
// The same of those that are over, whose pages are kept for others that begin alike.
constexpr std::int64_t kCachedConversations = 1;

std::int64_t pool_pages(const Settings& settings, std::int64_t conversations) {
  const std::int64_t pages = (settings.kv_tokens + kernels::kPageTokens - 1) / kernels::kPageTokens;
  return pages * conversations;
}

}  // namespace

Loop::Loop(Model model, const Settings& settings, OnPrefill on_prefill)
    : model_(std::move(model)),
      settings_(settings),
      on_prefill_(std::move(on_prefill)),
      team_(std::max(settings.threads, settings.threads_batch)),
      pool_(runtime::KvLayout::make(model_.impl().config, kernels::KvType::f16),
            pool_pages(settings, kFullConversations),
            {.cached_max = pool_pages(settings, kCachedConversations),
             .memory = model_.impl().weights.buffer.pages()}),
      forward_(model_.impl(), *settings.table, team_, kernels::KvType::f16, settings.batch_size,
               settings.kv_tokens),
      thread_([this] { run(); }) {}

Loop::~Loop() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void Loop::submit(std::shared_ptr<Request> request) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(request));
  }
  arrived_.notify_one();
}

void Loop::run() {
  base::set_default_float_environment();
  while (collect()) {
    drop_cancelled();
    step();
  }
  for (const auto& request : active_) request->finish(FinishReason::cancelled);
}

bool Loop::collect() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return ending_ || !queue_.empty() || !active_.empty(); });
  for (; !queue_.empty(); queue_.pop_front()) {
    queue_.front()->reuse_prefix();
    active_.push_back(std::move(queue_.front()));
  }
  return !ending_;
}

void Loop::drop_cancelled() {
  std::erase_if(active_, [](const std::shared_ptr<Request>& request) {
    const bool cancelled = request->cancelled();
    if (cancelled) request->finish(FinishReason::cancelled);
    return cancelled;
  });
}

void Loop::step() {
  plan_.clear();
  planned_.clear();
  std::int64_t room = forward_.rows_max();
  bool prefill = false;
  std::vector<Request*> full;
  const auto plan_one = [&](Request& request) {
    const auto pending = request.pending();
    const auto count = std::min<std::int64_t>(room, static_cast<std::int64_t>(pending.size()));
    if (count == 0) return;
    if (!request.kv().reserve(request.position() + count)) {
      full.push_back(&request);
      return;
    }
    const bool whole = count == static_cast<std::int64_t>(pending.size());
    plan_.push_back({pending.first(static_cast<std::size_t>(count)), request.position(),
                     &request.kv(), whole ? runtime::LogitRows::last : runtime::LogitRows::none});
    planned_.push_back(&request);
    room -= count;
    prefill = prefill || request.prefilling();
  };
  for (const auto& request : active_) {
    if (!request->prefilling()) plan_one(*request);
  }
  for (const auto& request : active_) {
    if (request->prefilling()) plan_one(*request);
  }
  for (Request* request : full) {
    request->finish(FinishReason::error,
                    "KV cache: expected room for another page, got none (out of memory)");
    std::erase_if(active_, [&](const auto& active) { return active.get() == request; });
  }
  if (plan_.empty()) return;

  const auto begin = Clock::now();
  std::span<const float> logits =
      forward_.step(plan_, prefill ? settings_.threads_batch : settings_.threads);
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  const auto vocab = static_cast<std::size_t>(model_.impl().config.vocab);
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    Request* request = planned_[i];
    const bool has_logits = plan_[i].logits == runtime::LogitRows::last;
    const bool prefilling = request->prefilling();
    request->computed(static_cast<std::int64_t>(plan_[i].tokens.size()), ms);
    if (prefilling && on_prefill_) {
      on_prefill_(request->position(), request->prompt_tokens());
    }
    if (!has_logits) continue;
    if (request->choose(logits.first(vocab), *model_.impl().text_tokenizer)) {
      std::erase_if(active_, [&](const auto& active) { return active.get() == request; });
    }
    logits = logits.subspan(vocab);
  }
}

}  // namespace r1::engine
