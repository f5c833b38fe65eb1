// Carries out the scheduler's plans: pages given back and taken, rows computed, tokens chosen.
#include "libr1/engine/loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libr1/base/float_environment.hpp"
#include "libr1/base/memory_info.hpp"

namespace r1::engine {
namespace {

// How long nobody must have wanted anything before something is computed ahead, and rows of a step
// of it: whoever comes meanwhile waits for the step.
constexpr auto kIdle = std::chrono::milliseconds(50);
constexpr std::int64_t kAheadRows = 64;

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

}  // namespace

Loop::Loop(Model model, const Settings& settings, OnPrefill on_prefill)
    : model_(std::move(model)),
      settings_(settings),
      on_prefill_(std::move(on_prefill)),
      team_(std::max(settings.threads, settings.threads_batch)),
      layout_(runtime::KvLayout::make(model_.impl().config, settings.kv_type)),
      budget_(kv_budget(settings, layout_, base::memory_budget().allowed)),
      pool_(layout_, budget_.pages,
            {.cached_max = budget_.cached, .memory = model_.impl().weights.buffer.pages()}),
      scheduler_({.rows_max = settings.batch_size,
                  .sequences_max = std::min(kSequencesMax, settings.batch_size),
                  .max_stall_s = settings.max_stall_s}),
      forward_(model_.impl(), *settings.table, team_, settings.kv_type, settings.batch_size,
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
    request->arrive(arrivals_++);
    queue_.push_back(std::move(request));
  }
  arrived_.notify_one();
}

void Loop::run() {
  base::set_default_float_environment();
  while (collect()) {
    drop_cancelled();
    drop_ahead();
    step();
  }
  for (const auto& request : active_) request->finish(FinishReason::cancelled);
  for (const auto& request : queue_) request->finish(FinishReason::cancelled);
}

bool Loop::collect() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return ending_ || !queue_.empty() || !active_.empty(); });
  if (std::all_of(active_.begin(), active_.end(), [](const auto& request) {
        return request->ahead() && request->position() == 0;
      })) {
    arrived_.wait_for(lock, kIdle, [&] {
      return ending_ || std::any_of(queue_.begin(), queue_.end(),
                                    [](const auto& request) { return !request->ahead(); });
    });
  }
  for (; !queue_.empty(); queue_.pop_front()) active_.push_back(std::move(queue_.front()));
  return !ending_;
}

void Loop::drop_cancelled() {
  std::erase_if(active_, [](const std::shared_ptr<Request>& request) {
    const bool cancelled = request->cancelled();
    if (cancelled) request->finish(FinishReason::cancelled);
    return cancelled;
  });
}

void Loop::drop_ahead() {
  if (std::all_of(active_.begin(), active_.end(),
                  [](const auto& request) { return request->ahead(); })) {
    return;
  }
  std::erase_if(active_, [](const std::shared_ptr<Request>& request) {
    if (request->ahead()) request->finish(FinishReason::cancelled);
    return request->ahead();
  });
}

std::uint64_t Loop::share_key(const std::string& cache_key) {
  if (cache_key.empty()) return 0;
  const std::scoped_lock lock(mutex_);
  return share_keys_.try_emplace(cache_key, share_keys_.size() + 1).first->second;
}

std::shared_ptr<const sampling::TokenTrie> Loop::token_trie() {
  const std::scoped_lock lock(trie_mutex_);
  if (!token_trie_) {
    token_trie_ = sampling::TokenTrie::from_tokenizer(*model_.impl().text_tokenizer);
  }
  return token_trie_;
}

void Loop::step() {
  scheduled_.clear();
  for (const auto& request : active_) scheduled_.push_back(&request->scheduled());
  const runtime::KvStatistics pages = pool_.statistics();
  const StepPlan& plan =
      scheduler_.plan(scheduled_, {pages.free + pages.cached, pages.capacity}, now_s());
  for (const std::size_t i : plan.preempt) active_[i]->release();
  for (const std::size_t i : plan.out_of_room) {
    end(i, fmt::format("KV cache: expected another page, got none free of {} (kv_memory {} bytes)",
                       budget_.pages, budget_.pages * layout_.page_bytes()));
  }
  for (const std::size_t i : plan.start) active_[i]->attach();
  take_rows(plan);
  if (!steps_.empty()) compute(plan);
  std::erase_if(active_, [](const auto& request) { return request == nullptr; });
}

void Loop::end(std::size_t i, const std::string& error) {
  active_[i]->finish(FinishReason::error, error);
  active_[i] = nullptr;
}

void Loop::take_rows(const StepPlan& plan) {
  steps_.clear();
  stepped_.clear();
  for (const StepPlan::Rows& rows : plan.rows) {
    Request& request = *active_[rows.request];
    const auto pending = request.pending();
    std::int64_t count = std::min(rows.tokens, static_cast<std::int64_t>(pending.size()));
    if (request.ahead()) count = std::min(count, kAheadRows);
    // Promised by the plan, unless the system has no memory for what the pool may have.
    if (!request.kv().reserve(request.position() + count)) {
      end(rows.request, "KV cache: expected memory for another page, got none from the system");
      continue;
    }
    const bool whole = count == static_cast<std::int64_t>(pending.size()) && !request.ahead();
    steps_.push_back({pending.first(static_cast<std::size_t>(count)), request.position(),
                      &request.kv(), whole ? runtime::LogitRows::last : runtime::LogitRows::none});
    stepped_.push_back(rows.request);
  }
}

void Loop::compute(const StepPlan& plan) {
  const bool prefill = plan.prefill_rows > 0;
  const auto begin = Clock::now();
  std::span<const float> logits =
      forward_.step(steps_, prefill ? settings_.threads_batch : settings_.threads);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  // Less than planned when more was found in the cache, or computed ahead.
  std::int64_t rows = 0;
  for (const runtime::SequenceStep& step : steps_) {
    rows += static_cast<std::int64_t>(step.tokens.size());
  }
  const std::int64_t decode_rows = std::min(plan.decode_rows, rows);
  scheduler_.learn(decode_rows, rows - decode_rows, seconds);
  const auto vocab = static_cast<std::size_t>(model_.impl().config.vocab);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Request& request = *active_[stepped_[i]];
    const bool has_logits = steps_[i].logits == runtime::LogitRows::last;
    const bool prefilling = request.prefilling();
    request.computed(static_cast<std::int64_t>(steps_[i].tokens.size()), seconds * 1000);
    if (request.ahead()) {
      if (!request.pending().empty()) continue;
      request.finish(FinishReason::stop);
      active_[stepped_[i]] = nullptr;
      continue;
    }
    if (prefilling && on_prefill_) {
      on_prefill_(std::min(request.position(), request.prompt_tokens()), request.prompt_tokens());
    }
    if (!has_logits) continue;
    if (request.choose(logits.first(vocab))) active_[stepped_[i]] = nullptr;
    logits = logits.subspan(vocab);
  }
}

}  // namespace r1::engine
