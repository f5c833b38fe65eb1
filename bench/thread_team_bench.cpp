// What a run and a barrier of ThreadTeam cost, beside std::barrier on the same number of threads
// and a oneTBB parallel_for. The limit of a barrier is a cache line's way to another core and back:
// one thread has to hear of the other's arrival, and the other that it may go on. Each case checks
// that its work was done.
#include <benchmark/benchmark.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "libr1/base/thread_team.hpp"

namespace {

using r1::base::ThreadTeam;
using r1::base::Worker;

constexpr int kBarriers = 400;  // about what one token of a 28-layer model takes

struct alignas(64) Counter {
  std::int64_t value = 0;
};

/// Seconds of a cache line's way to another core and back, the best measured so far.
double round_trip() {
  using Clock = std::chrono::steady_clock;
  static double best = 1;
  constexpr int kPart = 20;  // trips that are timed together
  // Enough of them on a quiet machine; on a busy one every trip may wait for other programs.
  const auto deadline = Clock::now() + std::chrono::milliseconds(1);
  std::atomic<int> turn{0};
  std::thread other([&] {
    for (int next = 1; next > 0; next += 2) {
      int seen = 0;
      while ((seen = turn.load(std::memory_order_acquire)) != next) {
        if (seen < 0) return;
      }
      turn.store(next + 1, std::memory_order_release);
    }
  });
  int now = 0;
  Clock::time_point end;
  do {
    const auto begin = Clock::now();
    for (int trip = 0; trip < kPart; ++trip, now += 2) {
      turn.store(now + 1, std::memory_order_release);
      while (turn.load(std::memory_order_acquire) != now + 2) {
      }
    }
    end = Clock::now();
    best = std::min(best, std::chrono::duration<double>(end - begin).count() / kPart);
  } while (end < deadline);
  turn.store(-1, std::memory_order_release);
  other.join();
  return best;
}

void report(benchmark::State& state, const std::vector<Counter>& counters, std::int64_t expected) {
  for (const Counter& counter : counters) {
    if (counter.value != expected) state.SkipWithError("work was lost");
  }
  state.counters["per_barrier"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kBarriers,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  // A longer trip is no line's way: other programs never left both threads a core.
  constexpr double kLongestTrip = 5e-6;
  if (counters.size() == 1) return;
  const double limit = round_trip();
  if (limit > kLongestTrip) return;
  state.counters["of_limit"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kBarriers * limit, benchmark::Counter::kIsRate);
}

void team_barriers(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  ThreadTeam team(threads);
  std::vector<Counter> counters(static_cast<std::size_t>(threads));
  for (auto _ : state) {
    team.run([&](Worker& worker) {
      for (int i = 0; i < kBarriers; ++i) {
        ++counters[static_cast<std::size_t>(worker.index())].value;
        worker.barrier();
      }
    });
  }
  report(state, counters, static_cast<std::int64_t>(state.iterations()) * kBarriers);
}

// The same loop on threads that live for the whole measurement, so that only the barrier differs.
void std_barriers(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  std::barrier barrier(threads);
  std::atomic<bool> stop{false};
  std::vector<Counter> counters(static_cast<std::size_t>(threads));
  std::vector<std::thread> others;
  for (int index = 1; index < threads; ++index) {
    others.emplace_back([&, index] {
      for (;;) {
        barrier.arrive_and_wait();
        if (stop) return;
        for (int i = 0; i < kBarriers; ++i) {
          ++counters[static_cast<std::size_t>(index)].value;
          barrier.arrive_and_wait();
        }
      }
    });
  }
  for (auto _ : state) {
    barrier.arrive_and_wait();
    for (int i = 0; i < kBarriers; ++i) {
      ++counters[0].value;
      barrier.arrive_and_wait();
    }
  }
  stop = true;
  barrier.arrive_and_wait();
  for (std::thread& other : others) other.join();
  report(state, counters, static_cast<std::int64_t>(state.iterations()) * kBarriers);
}

// A parallel_for a phase is how a task scheduler would do it.
void tbb_phases(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  oneapi::tbb::task_arena arena(threads);
  std::vector<Counter> counters(static_cast<std::size_t>(threads));
  for (auto _ : state) {
    arena.execute([&] {
      for (int i = 0; i < kBarriers; ++i) {
        oneapi::tbb::parallel_for(
            0, threads, [&](int index) { ++counters[static_cast<std::size_t>(index)].value; },
            oneapi::tbb::static_partitioner{});
      }
    });
  }
  report(state, counters, static_cast<std::int64_t>(state.iterations()) * kBarriers);
}

void team_run(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  ThreadTeam team(threads);
  std::vector<Counter> counters(static_cast<std::size_t>(threads));
  for (auto _ : state) {
    team.run([&](Worker& worker) { ++counters[static_cast<std::size_t>(worker.index())].value; });
  }
  for (const Counter& counter : counters) {
    if (counter.value != static_cast<std::int64_t>(state.iterations()))
      state.SkipWithError("work was lost");
  }
}

// The workers have gone to sleep before each run, as between two requests.
void team_run_after_sleep(benchmark::State& state) {
  const auto threads = static_cast<int>(state.range(0));
  ThreadTeam team(threads);
  std::atomic<std::int64_t> runs{0};
  for (auto _ : state) {
    state.PauseTiming();
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    state.ResumeTiming();
    team.run([&](Worker&) { ++runs; });
  }
  if (runs != static_cast<std::int64_t>(state.iterations()) * threads)
    state.SkipWithError("work was lost");
}

BENCHMARK(team_barriers)
    ->Arg(1)
    ->Arg(2)
    ->Arg(4)
    ->Arg(16)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(std_barriers)->Arg(2)->Arg(4)->Arg(16)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(tbb_phases)->Arg(2)->Arg(4)->Arg(16)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(team_run)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(team_run_after_sleep)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(500);

}  // namespace

BENCHMARK_MAIN();
