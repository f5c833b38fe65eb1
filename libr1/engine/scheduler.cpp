// One step's plan: streams take their rows and pages, then prefill what is left of both.
#include "libr1/engine/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/api/args.hpp"
#include "r1/error.hpp"

namespace r1::engine {
namespace {

// A stream with more pending tokens than this lost its pages and is prefilled again. Drafts and
// forced tokens stay below.
constexpr std::int64_t kStreamTokensMax = 16;
// Pages a start leaves for each runner: one is its next page. A request that was preempted waits
// until it would not be at once again.
constexpr std::int64_t kSparePages = 1;
constexpr std::int64_t kSparePagesAfterPreemption = 4;

std::int64_t pages_for(std::int64_t tokens) {
  return (tokens + kernels::kPageTokens - 1) / kernels::kPageTokens;
}

/// Pages that `request` needs for `tokens` more, tokens >= 1.
std::int64_t pages_missing(const ScheduledRequest& request, std::int64_t tokens) {
  return std::max<std::int64_t>(0, pages_for(request.position + tokens) - request.pages_held) +
         request.pages_copied;
}

/// Tokens that `pages` more are enough for.
std::int64_t tokens_within(const ScheduledRequest& request, std::int64_t pages) {
  const std::int64_t held = request.pages_held + pages - request.pages_copied;
  return pages < request.pages_copied ? 0 : held * kernels::kPageTokens - request.position;
}

bool is_stream(const ScheduledRequest& request) {
  return request.running && request.generating && request.pending <= kStreamTokensMax;
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options) : options_(options) {
  options_.sequences_max = std::min(options_.sequences_max, options_.rows_max);
}

void Scheduler::admit(std::int64_t prompt_tokens, std::int64_t capacity_pages) {
  const std::int64_t most = capacity_pages * kernels::kPageTokens - 1;
  if (prompt_tokens <= most) return;
  throw Error(ErrorCode::context_length_exceeded,
              fmt::format("prompt: expected at most {} tokens (KV pool of {} pages of {} tokens, "
                          "one left for the answer), got {}",
                          most, capacity_pages, kernels::kPageTokens, prompt_tokens));
}

double Scheduler::standing(const ScheduledRequest& request) const {
  return request.since - options_.priority_s * request.priority;
}

bool Scheduler::stands_before(const ScheduledRequest& a, const ScheduledRequest& b) const {
  const double standing_a = standing(a), standing_b = standing(b);
  if (standing_a != standing_b) return standing_a < standing_b;
  if (a.turn != b.turn) return a.turn < b.turn;
  return a.arrival < b.arrival;
}

const StepPlan& Scheduler::plan(std::span<ScheduledRequest* const> requests, const PoolRoom& pool,
                                double now) {
  plan_.preempt.clear();
  plan_.out_of_room.clear();
  plan_.start.clear();
  plan_.rows.clear();
  plan_.decode_rows = plan_.prefill_rows = 0;
  pool_ = pool;
  starts_open_ = true;
  entries_.clear();
  runners_.clear();
  // No entry may move once runners_ points at it.
  entries_.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    entries_.push_back({.request = requests[i], .place = i});
    if (requests[i]->running) runners_.push_back(&entries_.back());
  }
  std::sort(runners_.begin(), runners_.end(), [&](const Entry* a, const Entry* b) {
    return stands_before(*a->request, *b->request);
  });
  plan_streams();
  plan_prefill(now);
  write_rows();
  return plan_;
}

void Scheduler::plan_streams() {
  const auto streams = std::count_if(runners_.begin(), runners_.end(),
                                     [](const Entry* entry) { return is_stream(*entry->request); });
  const bool others = static_cast<std::size_t>(streams) < entries_.size();
  std::int64_t extra = std::max<std::int64_t>(0, options_.rows_max - streams - (others ? 1 : 0));
  // Preempting takes from the end, so the place of what is left does not change.
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    Entry& entry = *runners_[i];
    const ScheduledRequest& request = *entry.request;
    if (!is_stream(request)) continue;
    const std::int64_t tokens = std::min(request.pending, 1 + extra);
    const std::int64_t pages = pages_missing(request, tokens);
    if (!make_room(entry, pages)) {
      cannot_go_on(entry);
      continue;
    }
    promise(entry, tokens, pages);
    extra -= tokens - 1;
    plan_.decode_rows += tokens;
  }
}

std::int64_t Scheduler::prefill_budget() const {
  const std::int64_t left = options_.rows_max - plan_.decode_rows;
  if (plan_.decode_rows == 0) return left;
  return std::min(left, pace_.prefill_rows_within(options_.max_stall_s));
}

void Scheduler::plan_prefill(double now) {
  std::int64_t budget = prefill_budget();
  while (budget > 0) {
    Entry* entry = first_due();
    if (entry == nullptr) return;
    entry->settled = true;
    if (entry->request->running) {
      prefill_more(*entry, budget);
    } else {
      starts_open_ = start(*entry, budget, now);
    }
  }
}

/// When a request would be through its prompt had it been alone. Tokens that are computed a second
/// time do not count against it.
double Scheduler::due_at(const ScheduledRequest& request) const {
  if (request.preempted) return standing(request);
  return standing(request) + pace_.prefill_row_s() * static_cast<double>(request.pending);
}

Scheduler::Entry* Scheduler::first_due() {
  Entry* first = nullptr;
  double first_due = std::numeric_limits<double>::infinity();
  for (Entry& entry : entries_) {
    const ScheduledRequest& request = *entry.request;
    if (entry.settled || is_stream(request) || (!request.running && !starts_open_)) continue;
    const double due = due_at(request);
    if (first == nullptr || due < first_due ||
        (due == first_due && stands_before(request, *first->request))) {
      first = &entry;
      first_due = due;
    }
  }
  return first;
}

void Scheduler::prefill_more(Entry& entry, std::int64_t& budget) {
  const ScheduledRequest& request = *entry.request;
  const std::int64_t wanted = std::min(request.pending, budget);
  if (tokens_within(request, pool_.available) < 1 && !make_room(entry, pages_missing(request, 1))) {
    cannot_go_on(entry);
    return;
  }
  const std::int64_t tokens = std::min(wanted, tokens_within(request, pool_.available));
  promise(entry, tokens, pages_missing(request, tokens));
  budget -= tokens;
}

/// False when nothing more may start in this step.
bool Scheduler::start(Entry& entry, std::int64_t& budget, double now) {
  ScheduledRequest& request = *entry.request;
  const std::int64_t whole = pages_for(request.pending + 1);
  if (whole > pool_.capacity) {
    plan_.out_of_room.push_back(entry.place);
    return true;
  }
  if (!plan_.preempt.empty() || running_count() >= options_.sequences_max) return false;
  const std::int64_t spare =
      running_count() * (request.preempted ? kSparePagesAfterPreemption : kSparePages);
  if (pool_.available - pages_reserved() < whole + spare) {
    if (running_count() == 0) plan_.out_of_room.push_back(entry.place);
    return running_count() == 0;
  }
  request.running = true;
  plan_.start.push_back(entry.place);
  runners_.push_back(&entry);
  // What attaching finds cached was available and now is not, so all pages are set aside.
  const std::int64_t tokens = std::min(request.pending, budget);
  promise(entry, tokens, whole);
  budget -= tokens;
  if (request.preempted) return true;
  ++turns_;
  for (const Entry& other : entries_) {
    ScheduledRequest& waiting = *other.request;
    if (waiting.running || waiting.preempted || waiting.client != request.client ||
        waiting.priority != request.priority) {
      continue;
    }
    waiting.since = now;
    waiting.turn = turns_;
  }
  return true;
}

/// Pages that those in prefill were promised when they started and have not taken.
std::int64_t Scheduler::pages_reserved() const {
  std::int64_t pages = 0;
  for (const Entry* entry : runners_) {
    const ScheduledRequest& request = *entry->request;
    if (is_stream(request)) continue;
    pages += std::max<std::int64_t>(0, pages_missing(request, request.pending + 1) - entry->pages);
  }
  return pages;
}

bool Scheduler::make_room(const Entry& entry, std::int64_t pages) {
  while (pool_.available < pages) {
    if (runners_.back() == &entry) return false;
    preempt_last();
  }
  return true;
}

void Scheduler::preempt_last() {
  Entry& victim = *runners_.back();
  runners_.pop_back();
  pool_.available += victim.request->pages_exclusive + victim.pages;
  victim.request->running = false;
  victim.request->preempted = true;
  victim.settled = true;
  victim.pages = victim.tokens = 0;
  plan_.preempt.push_back(victim.place);
}

void Scheduler::promise(Entry& entry, std::int64_t tokens, std::int64_t pages) {
  entry.tokens = tokens;
  entry.pages = pages;
  pool_.available -= pages;
}

/// The worst standing runner has no page: it waits, unless nothing that runs could free one. What
/// was preempted in this step may have freed more than was counted.
void Scheduler::cannot_go_on(Entry& entry) {
  if (running_count() == 1 && plan_.preempt.empty()) plan_.out_of_room.push_back(entry.place);
}

void Scheduler::write_rows() {
  plan_.decode_rows = 0;
  for (const Entry* entry : runners_) {
    if (entry->tokens == 0 || !is_stream(*entry->request)) continue;
    plan_.rows.push_back({entry->place, entry->tokens});
    plan_.decode_rows += entry->tokens;
  }
  for (const Entry* entry : runners_) {
    if (entry->tokens == 0 || is_stream(*entry->request)) continue;
    plan_.rows.push_back({entry->place, entry->tokens});
    plan_.prefill_rows += entry->tokens;
  }
}

}  // namespace r1::engine
