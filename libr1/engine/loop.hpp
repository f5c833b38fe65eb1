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
#include "libr1/model/loaded_model.hpp"
#include "libr1/runtime/forward.hpp"
#include "r1/model.hpp"

namespace r1::engine {

/// Settled options of a loop.
struct LoopConfig {
  const kernels::KernelTable* table = nullptr;
  int threads = 1;
  int threads_batch = 1;
  std::int64_t kv_tokens = 0;
  std::int64_t batch_size = 0;
  std::function<void(std::int64_t done, std::int64_t total)> on_prefill = {};
};

/// Owns the team, the forward pass, the KV pool and the loop thread, which is worker 0 of the team.
/// submit() and wake() are thread-safe. Destroying it cancels what runs.
class Loop {
 public:
  Loop(Model model, const LoopConfig& config);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Hands a request over.
  void submit(std::shared_ptr<Request> request);
  runtime::KvPool& pool() { return pool_; }
  const LoopConfig& config() const { return config_; }
  const Model& model() const { return model_; }

 private:
  void run();
  /// Moves new requests to the active ones; waits when there is nothing to do. False: time to end.
  bool collect();
  void step();
  void drop_cancelled();

  Model model_;
  LoopConfig config_;
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
