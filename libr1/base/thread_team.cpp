// The team: one wake word a worker, one central barrier, one count of members still running.
// Waiting is a short spin, then a futex (std::atomic::wait). Not a task queue: everybody runs the
// same body.
#include "libr1/base/thread_team.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "libr1/base/cpu_budget.hpp"
#include "libr1/base/float_environment.hpp"
#include "r1/error.hpp"

namespace r1::base {
namespace {

constexpr int kThreadsMax = 4096;
constexpr std::size_t kCacheLineBytes = 64;

// A futex wake-up takes 5-50 us; spinning for about as long as that never costs more than twice the
// best choice in hindsight. bench/thread_team_bench shows the price of either way.
constexpr auto kSpinTime = std::chrono::microseconds(50);
// When another program has taken a core, the thread that is waited for may be queued behind the one
// that waits: yielding lets it run. With nothing queued a yield costs about 0.3 us.
constexpr int kPausesPerYield = 32;

inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A word that threads wait on. libstdc++ keeps its counts of sleepers in 16 buckets for the whole
// process, and words 64 bytes apart share one, so that any idle thread anywhere would turn each
// notify into a system call: hence a count of our own. seq_cst on both sides: either the sleeper
// sees the new value or the waker sees it.
class alignas(kCacheLineBytes) WaitWord {
 public:
  std::uint32_t load() const noexcept { return value_.load(std::memory_order_acquire); }

  void store_and_wake(std::uint32_t value) noexcept {
    value_.store(value, std::memory_order_seq_cst);
    wake();
  }

  /// Subtracts one; wakes at zero.
  void count_down() noexcept {
    if (value_.fetch_sub(1, std::memory_order_seq_cst) == 1) wake();
  }

  /// Sets a value that nobody waits for yet.
  void reset(std::uint32_t value) noexcept { value_.store(value, std::memory_order_relaxed); }

  /// Returns when `done(value)`.
  template <class Done>
  void wait(Done done, bool spin) noexcept {
    if (done(load())) return;
    if (spin && spin_until(done)) return;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    for (std::uint32_t seen = value_.load(std::memory_order_seq_cst); !done(seen);
         seen = value_.load(std::memory_order_seq_cst)) {
      value_.wait(seen, std::memory_order_seq_cst);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  template <class Done>
  bool spin_until(Done done) const noexcept {
    const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
    do {
      for (int i = 0; i < kPausesPerYield; ++i) {
        pause();
        if (done(load())) return true;
      }
      sched_yield();
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
  }

  void wake() noexcept {
    if (sleepers_.load(std::memory_order_seq_cst) != 0) value_.notify_all();
  }

  std::atomic<std::uint32_t> value_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

// New threads inherit the creator's mask: signals of the program stay with the program's own
// threads.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

 private:
  sigset_t saved_;
};

}  // namespace

struct ThreadTeam::Impl {
  int size;
  bool spin;
  std::atomic<bool> busy{false};

  // The job. Written by the caller before the wake words, read by members after them.
  Invoke invoke = nullptr;
  void* context = nullptr;
  int members = 0;
  bool stop = false;

  std::mutex error_mutex;
  std::exception_ptr error;

  std::vector<WaitWord> jobs;  // one a worker (0 unused): number of the job it should run
  WaitWord running;            // members, but the caller, that are not done
  WaitWord phase;              // barriers passed
  alignas(kCacheLineBytes) std::atomic<int> arrived{0};
  std::vector<std::thread> threads;

  explicit Impl(int threads_wanted)
      : size(threads_wanted), spin(may_spin(threads_wanted)), jobs(size) {}

  static bool may_spin(int size) {
    const CpuBudget budget = cpu_budget();
    const double cpus = budget.quota > 0
                            ? std::min<double>(budget.allowed_cpus, std::ceil(budget.quota))
                            : budget.allowed_cpus;
    return size <= cpus;
  }

  void start(ThreadTeam& team) {
    const AllSignalsBlocked blocked;
    threads.reserve(static_cast<std::size_t>(size - 1));
    try {
      for (int index = 1; index < size; ++index) {
        threads.emplace_back([&team, index] { team.impl_->serve(team, index); });
      }
    } catch (const std::exception& cause) {
      const std::size_t got = threads.size() + 1;
      shut_down();
      throw Error(
          ErrorCode::out_of_memory,
          fmt::format("thread team: expected {} threads, got {}: {}", size, got, cause.what()));
    }
  }

  void shut_down() noexcept {
    stop = true;
    for (std::size_t i = 0; i < threads.size(); ++i)
      jobs[i + 1].store_and_wake(jobs[i + 1].load() + 1);
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }

  void serve(ThreadTeam& team, int index) noexcept {
    set_default_float_environment();
    pthread_setname_np(pthread_self(), "r1-worker");
    WaitWord& job = jobs[static_cast<std::size_t>(index)];
    for (std::uint32_t seen = 0;;) {
      // A fresh worker goes to sleep at once: nothing says that a run is near.
      job.wait([seen](std::uint32_t value) { return value != seen; }, spin && seen != 0);
      if (stop) return;
      seen = job.load();
      call(Worker(team, index, members));
      running.count_down();
    }
  }

  void call(Worker worker) noexcept {
    try {
      invoke(context, worker);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  }
};

void Worker::barrier() noexcept {
  if (count_ == 1) return;
  ThreadTeam::Impl& team = *team_.impl_;
  const std::uint32_t phase = team.phase.load();
  if (team.arrived.fetch_add(1, std::memory_order_acq_rel) == count_ - 1) {
    team.arrived.store(0, std::memory_order_relaxed);
    team.phase.store_and_wake(phase + 1);
  } else {
    team.phase.wait([phase](std::uint32_t value) { return value != phase; }, team.spin);
  }
}

Range Worker::slice(std::int64_t total, std::int64_t grain) const noexcept {
  if (total <= 0) return {};
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t units = total / grain + (total % grain != 0);
  const std::int64_t share = units / count_;
  const std::int64_t extra = units % count_;  // the first `extra` members take one more
  const auto boundary = [&](std::int64_t index) {
    const std::int64_t unit = share * index + std::min(index, extra);
    return unit == units ? total : unit * grain;
  };
  return {boundary(index_), boundary(index_ + 1)};
}

ThreadTeam::ThreadTeam(int threads) {
  if (threads < 1 || threads > kThreadsMax) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("threads: expected 1 to {}, got {}", kThreadsMax, threads));
  }
  impl_ = std::make_unique<Impl>(threads);
  impl_->start(*this);
}

ThreadTeam::~ThreadTeam() { impl_->shut_down(); }

int ThreadTeam::size() const noexcept { return impl_->size; }

void ThreadTeam::run_erased(Invoke invoke, void* context, int members) {
  const FloatEnvironmentScope environment;
  Impl& team = *impl_;
  members = members <= 0 ? team.size : std::min(members, team.size);
  // A body that calls run() again, or a second caller, works alone: no member is free to help.
  if (members == 1 || team.busy.exchange(true, std::memory_order_acquire)) {
    Worker alone(*this, 0, 1);
    invoke(context, alone);
    return;
  }
  team.invoke = invoke;
  team.context = context;
  team.members = members;
  team.running.reset(static_cast<std::uint32_t>(members - 1));
  for (int index = 1; index < members; ++index) {
    WaitWord& job = team.jobs[static_cast<std::size_t>(index)];
    job.store_and_wake(job.load() + 1);
  }
  team.call(Worker(*this, 0, members));
  team.running.wait([](std::uint32_t value) { return value == 0; }, team.spin);
  const std::exception_ptr error = std::exchange(team.error, nullptr);
  team.busy.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

}  // namespace r1::base
