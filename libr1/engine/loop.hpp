// The engine's loop: takes requests, plans steps, runs the forward pass, samples.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "libr1/base/thread_team.hpp"
#include "libr1/engine/request.hpp"
#include "libr1/engine/settings.hpp"
#include "libr1/model/loaded_model.hpp"
#include "libr1/runtime/forward.hpp"
#include "r1/model.hpp"

namespace r1::engine {

/// Prompt tokens processed so far; see EngineOptions::on_prefill.
using OnPrefill = std::function<void(std::int64_t done, std::int64_t total)>;

/// Owns the team, the forward pass, the KV pool and the loop thread, which is worker 0 of the team.
/// submit() and wake() are thread-safe. Destroying it cancels what runs.
class Loop {
 public:
  Loop(Model model, const Settings& settings, OnPrefill on_prefill);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Hands a request over.
  void submit(std::shared_ptr<Request> request);
  runtime::KvPool& pool() { return pool_; }
  const Settings& settings() const { return settings_; }
  const Model& model() const { return model_; }

 private:
  void run();
  /// Moves new requests to the active ones; waits when there is nothing to do. False: time to end.
  bool collect();
  void step();
  void drop_cancelled();

  Model model_;
  Settings settings_;
  OnPrefill on_prefill_;
  base::ThreadTeam team_;
  runtime::KvPool pool_;
  runtime::Forward forward_;

  std::vector<std::shared_ptr<Request>> active_;  ///< loop thread only, in order of arrival
  std::vector<runtime::SequenceStep> plan_;
  std::vector<Request*> planned_;

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Request>> queue_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace r1::engine
