// Continuous batching as pure policy: which requests run, what each does in the next step, who
// gives its pages back. No threads, no clock, no forward pass; libr1/engine/loop carries it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libr1/engine/step_pace.hpp"

namespace r1::engine {

/// Bounds of the policy.
struct SchedulerOptions {
  std::int64_t rows_max = 512;      ///< rows a step may have, >= 1
  std::int64_t sequences_max = 64;  ///< requests that may run at once; at most rows_max count
  double max_stall_s = 0.5;         ///< what prefill may add to the gap between a stream's tokens
  double priority_s = 10;           ///< seconds of waiting that one step of priority is worth
};

/// A request as the scheduler sees it. The loop keeps one beside each request and sets the second
/// group anew before each plan.
struct ScheduledRequest {
  // Set when the request comes.
  std::uint64_t client = 0;   ///< whom turns are shared between: a session or a client's key
  int priority = 0;           ///< higher goes first
  std::uint64_t arrival = 0;  ///< unique, rising
  double since = 0;           ///< time of arrival, on the clock of plan(); then the scheduler's own

  // Set before each plan. A request that does not run holds no pages and has position 0.
  std::int64_t position = 0;         ///< tokens whose keys and values are held
  std::int64_t pending = 0;          ///< tokens to be computed, >= 1
  bool generating = false;           ///< has produced a token
  std::int64_t pages_held = 0;       ///< pages it refers to
  std::int64_t pages_exclusive = 0;  ///< those that become available when it alone gives them back
  std::int64_t pages_copied = 0;     ///< pages to be copied before it may write (0 or 1)

  // The scheduler's own.
  bool running = false;
  bool preempted = false;  ///< gave its pages back at least once
  std::uint64_t turn = 0;  ///< orders what has the same `since`
};

/// The KV pool as the scheduler sees it. Between steps every page is available or held by a running
/// request.
struct PoolRoom {
  std::int64_t available = 0;  ///< pages free, or cached and evictable
  std::int64_t capacity = 0;   ///< pages in all
};

/// What to do next, in this order: give back `preempt`'s pages, finish `out_of_room`, attach
/// `start` to what is cached of them, compute `rows`. Numbers are places in plan()'s requests.
struct StepPlan {
  /// The first `tokens` pending ones; fewer when attaching left fewer. Their pages are there.
  struct Rows {
    std::size_t request = 0;
    std::int64_t tokens = 0;
  };

  std::vector<std::size_t> preempt;      ///< they keep their tokens and start again later
  std::vector<std::size_t> out_of_room;  ///< cannot go on though nothing else runs
  std::vector<std::size_t> start;        ///< run from now on
  std::vector<Rows> rows;                ///< streams first, then prefill
  std::int64_t decode_rows = 0;
  std::int64_t prefill_rows = 0;
};

/// The policy. Its rules, and why nothing starves:
///
/// *Standing.* A request stands at the time it has waited since, less priority_s a step of
/// priority: earlier is better, so a priority is a head start and waiting makes up for it. When a
/// request starts, others of the same client and priority wait anew from then: clients take turns,
/// however many requests one has. From its first start on, a request's standing never changes.
/// *Pages* go to streams in order of standing. When they run out, the worst standing runner is
/// preempted for a better one; the worst one left waits for a page without giving up its own. So
/// the best standing request always goes on, and as newcomers stand ever later, a request is
/// preempted a bounded number of times. A start sets aside the pages of all its tokens and leaves
/// some for those that run, more so after a preemption; none happens in a step that preempts.
/// *Rows.* Every stream gets its tokens. Prefill gets what is left, within max_stall_s when there
/// are streams, in order of standing plus the seconds that its prefill takes: a request waits only
/// for those that would have been done before it had each been alone (what was preempted stands as
/// it stood). Who is first in that order and does not fit keeps all behind it from starting.
///
/// The same input gives the same plans. O(requests) for each request that gets rows; nothing is
/// allocated once warm. Not thread-safe.
class Scheduler {
 public:
  explicit Scheduler(const SchedulerOptions& options);

  /// Throws Error{context_length_exceeded} when a prompt of `prompt_tokens` and one more token can
  /// never be held in a pool of `capacity_pages`.
  static void admit(std::int64_t prompt_tokens, std::int64_t capacity_pages);

  /// The next step for `requests`: all that are neither finished nor cancelled, in any order.
  /// Updates their last group. `now`: seconds, never falling. Valid until the next call. No rows:
  /// there is nothing to do, unless something was preempted or is out of room; then plan again.
  const StepPlan& plan(std::span<ScheduledRequest* const> requests, const PoolRoom& pool,
                       double now);

  /// Tells what a step's rows were and how long it took.
  void learn(std::int64_t decode_rows, std::int64_t prefill_rows, double seconds) {
    pace_.learn(decode_rows, prefill_rows, seconds);
  }

 private:
  struct Entry {
    ScheduledRequest* request = nullptr;
    std::size_t place = 0;
    std::int64_t pages = 0;  ///< promised in this step
    std::int64_t tokens = 0;
    bool settled = false;  ///< nothing more to decide in this step
  };

  double standing(const ScheduledRequest& request) const;
  double due_at(const ScheduledRequest& request) const;
  bool stands_before(const ScheduledRequest& a, const ScheduledRequest& b) const;
  std::int64_t running_count() const { return static_cast<std::int64_t>(runners_.size()); }
  std::int64_t prefill_budget() const;
  std::int64_t pages_reserved() const;
  Entry* first_due();
  void plan_streams();
  void plan_prefill(double now);
  void prefill_more(Entry& entry, std::int64_t& budget);
  bool start(Entry& entry, std::int64_t& budget, double now);
  bool make_room(const Entry& entry, std::int64_t pages);
  void preempt_last();
  void promise(Entry& entry, std::int64_t tokens, std::int64_t pages);
  void cannot_go_on(Entry& entry);
  void write_rows();

  SchedulerOptions options_;
  StepPace pace_;
  std::uint64_t turns_ = 0;

  // The step being planned.
  StepPlan plan_;
  PoolRoom pool_;
  std::vector<Entry> entries_;
  std::vector<Entry*> runners_;  ///< those running, in order of standing
  bool starts_open_ = true;
};

}  // namespace r1::engine
