// A fixed team of threads that run one body together, with barriers between its phases.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace r1::base {

class ThreadTeam;

/// A half-open range of work.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// One member of a team during run().
class Worker {
 public:
  /// 0 is the thread that called run().
  int index() const noexcept { return index_; }
  /// Members of this run.
  int count() const noexcept { return count_; }
  /// Waits until all members are here; what each wrote before is then visible to all.
  void barrier() noexcept;
  /// This member's share of [0, total): contiguous, in order of index, boundaries at multiples of
  /// `grain`.
  Range slice(std::int64_t total, std::int64_t grain = 1) const noexcept;

 private:
  friend class ThreadTeam;
  Worker(ThreadTeam& team, int index, int count) noexcept
      : team_(team), index_(index), count_(count) {}
  ThreadTeam& team_;
  int index_;
  int count_;
};

/// Threads spin briefly, then sleep; they do not spin at all when the team is larger than the CPUs
/// this process may use. Idle teams use no CPU. run() is called from one thread at a time.
class ThreadTeam {
 public:
  /// `threads` >= 1, the caller included.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const noexcept;

  /// Runs body(Worker&) on `members` threads (0: all) at once and returns when all are done. A body
  /// that uses barrier() must not throw; otherwise the first exception is rethrown here.
  template <class Body>
  void run(Body&& body, int members = 0) {
    run_erased(
        [](void* context, Worker& worker) {
          (*static_cast<std::remove_reference_t<Body>*>(context))(worker);
        },
        const_cast<void*>(static_cast<const void*>(&body)), members);
  }

 private:
  friend class Worker;
  using Invoke = void (*)(void* context, Worker& worker);
  void run_erased(Invoke invoke, void* context, int members);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace r1::base
