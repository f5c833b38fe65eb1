// A world without threads or a model for the scheduler: requests with known lengths, a pool that is
// only counted, a clock that moves by a noisy, depth-dependent cost. It carries plans out and
// checks each against its own arithmetic.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "libr1/engine/scheduler.hpp"

namespace r1::support {

/// A request and what became of it.
struct WorldRequest {
  engine::ScheduledRequest state;
  std::int64_t prompt = 0, answer = 0;  ///< tokens; answer >= 1
  double cancel_at = -1;                ///< -1: never
  std::int64_t generated = 0;
  double arrived_at = 0;
  double started_at = -1, finished_at = -1, last_token_at = -1;
  std::int64_t preemptions = 0;
  bool cancelled = false, refused = false, out_of_room = false;

  bool over() const { return finished_at >= 0; }
  std::int64_t tokens() const { return prompt + generated; }
};

/// Runs requests through a scheduler.
class World {
 public:
  static constexpr std::int64_t kPage = 16;

  World(const engine::SchedulerOptions& options, std::int64_t capacity_pages, unsigned seed = 1)
      : options_(options), scheduler_(options), capacity_(capacity_pages), random_(seed) {}

  /// Adds a request that comes at `at` (not before those added earlier).
  WorldRequest& add(double at, std::uint64_t client, int priority, std::int64_t prompt,
                    std::int64_t answer) {
    WorldRequest& request = requests_.emplace_back();
    request.state.client = client;
    request.state.priority = priority;
    request.state.arrival = requests_.size();
    request.state.since = request.arrived_at = at;
    request.prompt = prompt;
    request.answer = answer;
    return request;
  }

  /// Plans and carries out one step. False: nothing is left to do.
  bool step() {
    arrive();
    cancel();
    if (active_.empty()) {
      if (arrived_ == requests_.size()) return false;
      now_ = requests_[arrived_].arrived_at;
      return true;
    }
    states_.clear();
    for (WorldRequest* request : active_) states_.push_back(&request->state);
    const engine::StepPlan& plan = scheduler_.plan(states_, {available(), capacity_}, now_);
    // Something happens in every plan: no request can hang.
    REQUIRE(plan.rows.size() + plan.preempt.size() + plan.out_of_room.size() > 0);
    carry_out(plan);
    ++steps;
    return true;
  }

  void run(std::int64_t steps_max = 10'000'000) {
    while (step()) REQUIRE(steps < steps_max);
  }

  std::int64_t available() const {
    std::int64_t held = 0;
    for (const WorldRequest* request : active_) held += request->state.pages_held;
    return capacity_ - held;
  }

  double now() const { return now_; }
  std::deque<WorldRequest>& requests() { return requests_; }

  /// Seconds of a step; replaced by tests that want other machines.
  std::function<double(std::int64_t decode, std::int64_t prefill, double depth)> cost =
      [](std::int64_t decode, std::int64_t prefill, double depth) {
        return 0.03 + 0.0005 * static_cast<double>(decode) +
               0.002 * static_cast<double>(prefill) * (1 + depth / 8192);
      };
  double noise = 0;             ///< sigma of the logarithm
  double cached_share = 0;      ///< how often a start finds some of its tokens cached
  std::vector<double> gaps;     ///< between tokens of streams that ran through
  std::vector<double> streams;  ///< seconds of steps without prefill
  std::int64_t steps = 0;

 private:
  /// REQUIRE without its cost, for what is checked millions of times.
  static void must(bool holds, const char* what) {
    if (!holds) FAIL(what);
  }

  static std::int64_t pages(std::int64_t tokens) { return (tokens + kPage - 1) / kPage; }

  void arrive() {
    for (; arrived_ < requests_.size() && requests_[arrived_].arrived_at <= now_; ++arrived_) {
      WorldRequest& request = requests_[arrived_];
      request.state.pending = request.prompt;
      try {
        engine::Scheduler::admit(request.prompt, capacity_);
        REQUIRE(request.prompt + 1 <= capacity_ * kPage);
        active_.push_back(&request);
      } catch (const std::exception&) {
        REQUIRE(request.prompt + 1 > capacity_ * kPage);
        request.refused = true;
        request.finished_at = now_;
      }
    }
  }

  void cancel() {
    for (WorldRequest* request : active_) {
      if (request->cancel_at < 0 || request->cancel_at > now_) continue;
      request->cancelled = true;
      finish(*request);
    }
    sweep();
  }

  void finish(WorldRequest& request) {
    request.finished_at = now_;
    request.state.pages_held = 0;
  }

  void sweep() {
    std::erase_if(active_, [](const WorldRequest* request) { return request->over(); });
  }

  void give_back(WorldRequest& request) {
    REQUIRE_FALSE(request.state.running);
    request.state.position = request.state.pages_held = request.state.pages_exclusive = 0;
    request.state.pending = request.tokens();
    ++request.preemptions;
  }

  void attach(WorldRequest& request) {
    REQUIRE(request.state.running);
    REQUIRE(request.state.pages_held == 0);
    if (request.started_at < 0) request.started_at = now_;
    if (std::uniform_real_distribution<double>(0, 1)(random_) >= cached_share) return;
    const std::int64_t found =
        std::uniform_int_distribution<std::int64_t>(0, request.state.pending - 1)(random_);
    request.state.position = found;
    request.state.pending -= found;
    request.state.pages_held = request.state.pages_exclusive = pages(found);
  }

  void carry_out(const engine::StepPlan& plan) {
    std::set<std::size_t> changed(plan.preempt.begin(), plan.preempt.end());
    for (const std::size_t i : plan.preempt) give_back(*active_[i]);
    for (const std::size_t i : plan.out_of_room) {
      WorldRequest& request = *active_[i];
      // True only of what the whole pool cannot hold.
      REQUIRE(pages(request.tokens() + 1) > capacity_);
      request.out_of_room = true;
    }
    for (const std::size_t i : plan.start) {
      REQUIRE(changed.insert(i).second);
      attach(*active_[i]);
      REQUIRE(available() >= 0);
    }
    std::set<std::size_t> with_rows;
    std::int64_t decode = 0, prefill = 0, attended = 0;
    const std::int64_t running = std::count_if(active_.begin(), active_.end(),
                                               [](const auto* one) { return one->state.running; });
    REQUIRE(running <= options_.sequences_max);
    std::vector<std::pair<WorldRequest*, std::int64_t>> rows;
    for (const auto& [place, planned] : plan.rows) {
      WorldRequest& request = *active_[place];
      engine::ScheduledRequest& state = request.state;
      must(state.running, "rows for what does not run");
      must(planned >= 1, "no rows");
      must(with_rows.insert(place).second, "rows twice");
      const std::int64_t count = std::min(planned, state.pending);
      const bool stream = request.generated > 0 && state.pending == 1;
      (stream ? decode : prefill) += count;
      attended += stream ? 0 : count * state.position;
      state.pages_held = state.pages_exclusive =
          std::max(state.pages_held, pages(state.position + count));
      rows.emplace_back(&request, count);
    }
    REQUIRE(available() >= 0);
    REQUIRE(decode + prefill <= options_.rows_max);
    spend(decode, prefill, attended);
    for (WorldRequest* request : active_) {
      const auto own = std::find_if(rows.begin(), rows.end(),
                                    [&](const auto& row) { return row.first == request; });
      if (own == rows.end()) {
        request->last_token_at = -1;
      } else {
        compute(*request, own->second);
      }
    }
    for (WorldRequest* request : active_) {
      if (request->out_of_room) finish(*request);
    }
    sweep();
  }

  void spend(std::int64_t decode, std::int64_t prefill, std::int64_t attended) {
    if (decode + prefill == 0) return;
    const double depth =
        prefill == 0 ? 0 : static_cast<double>(attended) / static_cast<double>(prefill);
    const double seconds = cost(decode, prefill, depth) *
                           std::exp(noise * std::normal_distribution<double>()(random_));
    if (prefill == 0) streams.push_back(seconds);
    now_ += seconds;
    scheduler_.learn(decode, prefill, seconds);
  }

  void compute(WorldRequest& request, std::int64_t count) {
    request.state.position += count;
    request.state.pending -= count;
    if (request.state.pending > 0) return;
    ++request.generated;
    request.state.generating = true;
    request.state.pending = 1;
    if (request.last_token_at >= 0) gaps.push_back(now_ - request.last_token_at);
    request.last_token_at = now_;
    if (request.generated == request.answer) finish(request);
  }

  engine::SchedulerOptions options_;
  engine::Scheduler scheduler_;
  std::int64_t capacity_;
  std::mt19937 random_;
  double now_ = 0;
  std::deque<WorldRequest> requests_;
  std::size_t arrived_ = 0;
  std::vector<WorldRequest*> active_;
  std::vector<engine::ScheduledRequest*> states_;
};

}  // namespace r1::support
