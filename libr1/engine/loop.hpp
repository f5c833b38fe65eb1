// The engine's loop: takes requests, plans steps, runs the forward pass, samples.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libr1/base/thread_team.hpp"
#include "libr1/engine/kv_budget.hpp"
#include "libr1/engine/request.hpp"
#include "libr1/engine/scheduler.hpp"
#include "libr1/engine/settings.hpp"
#include "libr1/model/loaded_model.hpp"
#include "libr1/runtime/forward.hpp"
#include "libr1/sampling/token_trie.hpp"
#include "r1/model.hpp"

namespace r1::engine {

/// Prompt tokens processed so far; see EngineOptions::on_prefill.
using OnPrefill = std::function<void(std::int64_t done, std::int64_t total)>;

/// Generations that run at once; others wait for their turn.
inline constexpr std::int64_t kSequencesMax = 64;

/// Owns the team, the forward pass, the KV pool and the loop thread, which is worker 0 of the team.
/// All public members are thread-safe. Destroying it cancels what runs.
class Loop {
 public:
  Loop(Model model, const Settings& settings, OnPrefill on_prefill);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Hands a request over.
  void submit(std::shared_ptr<Request> request);
  runtime::KvPool& pool() { return pool_; }
  const KvBudget& budget() const { return budget_; }
  /// The vocabulary as constraints need it; made when first asked for. Throws Error{unsupported}.
  std::shared_ptr<const sampling::TokenTrie> token_trie();
  /// Tokens that one conversation may have.
  std::int64_t context() const {
    return std::min(settings_.kv_tokens, budget_.pages * kernels::kPageTokens);
  }
  /// A number for a session's requests, whose turns the scheduler shares out.
  std::uint64_t new_client() { return clients_++; }
  /// The same number for the same key.
  std::uint64_t share_key(const std::string& cache_key);
  const Settings& settings() const { return settings_; }
  const Model& model() const { return model_; }

 private:
  void run();
  /// Moves new requests to the active ones; waits when there is nothing to do. False: time to end.
  bool collect();
  void drop_cancelled();
  /// Ends what is computed ahead when there is anything else to do.
  void drop_ahead();
  /// Plans a step and carries it out.
  void step();
  /// Makes steps_ of the plan's rows.
  void take_rows(const StepPlan& plan);
  void compute(const StepPlan& plan);
  /// Ends active_[i] with an error.
  void end(std::size_t i, const std::string& error);

  Model model_;
  Settings settings_;
  OnPrefill on_prefill_;
  base::ThreadTeam team_;
  runtime::KvLayout layout_;
  KvBudget budget_;
  runtime::KvPool pool_;
  Scheduler scheduler_;
  runtime::Forward forward_;

  // The loop thread's own. active_ is in order of arrival; null: over, to be dropped.
  std::vector<std::shared_ptr<Request>> active_;
  std::vector<ScheduledRequest*> scheduled_;
  std::vector<runtime::SequenceStep> steps_;
  std::vector<std::size_t> stepped_;  ///< whose steps they are, in active_

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Request>> queue_;
  bool ending_ = false;
  std::uint64_t arrivals_ = 0;
  std::map<std::string, std::uint64_t> share_keys_;
  std::mutex trie_mutex_;
  std::shared_ptr<const sampling::TokenTrie> token_trie_;
  std::atomic<std::uint64_t> clients_{0};
  std::thread thread_;
};

}  // namespace r1::engine
