// ThreadTeam: every member runs once, barriers order memory, nothing hangs, errors come back.
#include "libr1/base/thread_team.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "libr1/base/float_environment.hpp"
#include "r1/error.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using r1::base::Range;
using r1::base::ThreadTeam;
using r1::base::Worker;

namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Pins the calling thread, and the threads it starts, to one CPU for a scope (case R1: taskset -c
// 0).
class PinnedToOneCpu {
 public:
  PinnedToOneCpu() {
    sched_getaffinity(0, sizeof(saved_), &saved_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &saved_)) {
        CPU_SET(cpu, &one);
        break;
      }
    }
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~PinnedToOneCpu() { sched_setaffinity(0, sizeof(saved_), &saved_); }

 private:
  cpu_set_t saved_;
};

// Each phase every member adds what it read from its left neighbour in the phase before. Any
// barrier that lets a member through early gives a wrong sum.
void check_phases(ThreadTeam& team, int members, int phases) {
  const auto count = static_cast<std::size_t>(members);
  std::vector<std::vector<std::int64_t>> values(2, std::vector<std::int64_t>(count, 1));
  team.run(
      [&](Worker& worker) {
        const auto me = static_cast<std::size_t>(worker.index());
        for (int phase = 0; phase < phases; ++phase) {
          const auto from = static_cast<std::size_t>(phase % 2);
          values[1 - from][me] = values[from][(me + 1) % count] + 1;
          worker.barrier();
        }
      },
      members);
  const auto last = static_cast<std::size_t>(phases % 2);
  CHECK(values[last] == std::vector<std::int64_t>(count, phases + 1));
}

}  // namespace

TEST_CASE("every member runs once, the caller is worker 0") {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadTeam team(threads);
    CHECK(team.size() == threads);
    for (int members = 0; members <= threads; ++members) {
      const int expected = members == 0 ? threads : members;
      std::vector<std::thread::id> ids(static_cast<std::size_t>(threads));
      std::vector<int> runs(static_cast<std::size_t>(threads), 0);
      std::vector<int> counts(static_cast<std::size_t>(threads), 0);
      team.run(
          [&](Worker& worker) {
            const auto me = static_cast<std::size_t>(worker.index());
            ids[me] = std::this_thread::get_id();
            counts[me] = worker.count();
            ++runs[me];
          },
          members);
      CHECK(ids[0] == std::this_thread::get_id());
      CHECK(std::accumulate(runs.begin(), runs.end(), 0) == expected);
      const std::set<std::thread::id> distinct(ids.begin(), ids.begin() + expected);
      CHECK(distinct.size() == static_cast<std::size_t>(expected));
      for (int i = 0; i < expected; ++i) CHECK(counts[static_cast<std::size_t>(i)] == expected);
    }
  }
}

TEST_CASE("more members than the team has means all") {
  ThreadTeam team(2);
  std::atomic<int> runs{0};
  team.run([&](Worker& worker) { runs += worker.count(); }, 5);
  CHECK(runs == 4);
}

TEST_CASE("barriers order what members write") {
  ThreadTeam team(4);
  for (const int members : {1, 2, 3, 4}) check_phases(team, members, 500);
}

TEST_CASE("runs follow each other without loss") {
  ThreadTeam team(3);
  std::int64_t sums[3] = {};
  for (int round = 0; round < 3000; ++round) {
    team.run([&](Worker& worker) { sums[worker.index()] += round; }, 1 + round % 3);
  }
  CHECK(sums[0] == 2999 * 3000 / 2);
  std::int64_t expected[2] = {};
  for (int round = 0; round < 3000; ++round) {
    if (round % 3 >= 1) expected[0] += round;
    if (round % 3 >= 2) expected[1] += round;
  }
  CHECK(sums[1] == expected[0]);
  CHECK(sums[2] == expected[1]);
}

TEST_CASE("sleeping members wake up: pauses longer than the spin") {
  ThreadTeam team(2);
  int phases[2] = {};
  std::atomic<int> mismatches{0};
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    team.run([&](Worker& worker) {
      if (worker.index() == round % 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      worker.barrier();
      ++phases[worker.index()];
      worker.barrier();
      if (phases[0] != phases[1]) ++mismatches;
      worker.barrier();
    });
  }
  CHECK(mismatches == 0);
  CHECK(phases[0] == 20);
}

TEST_CASE("16 threads on one CPU get through (case R1)") {
  const PinnedToOneCpu pinned;
  ThreadTeam team(16);
  for (int round = 0; round < 5; ++round) check_phases(team, 16, 100);
}

TEST_CASE("several teams side by side") {
  std::vector<std::thread> users;
  std::atomic<int> total{0};
  for (int user = 0; user < 3; ++user) {
    users.emplace_back([&] {
      ThreadTeam team(3);
      for (int round = 0; round < 100; ++round) {
        team.run([&](Worker& worker) {
          worker.barrier();
          ++total;
        });
      }
    });
  }
  for (std::thread& user : users) user.join();
  CHECK(total == 3 * 3 * 100);
}

TEST_CASE("a team can be used from one thread after another") {
  ThreadTeam team(3);
  for (int round = 0; round < 10; ++round) std::thread([&] { check_phases(team, 3, 20); }).join();
  check_phases(team, 3, 20);
}

TEST_CASE("a run inside a run works alone and does all the work") {
  ThreadTeam team(3);
  std::atomic<std::int64_t> covered{0};
  std::atomic<int> members{0};
  team.run([&](Worker&) {
    team.run([&](Worker& inner) {
      members += inner.count();
      inner.barrier();
      const Range range = inner.slice(10);
      covered += range.end - range.begin;
    });
  });
  CHECK(members == 3);
  CHECK(covered == 3 * 10);
}

TEST_CASE("exceptions come back to the caller and the team stays usable") {
  ThreadTeam team(4);
  for (int thrower = 0; thrower < 4; ++thrower) {
    std::atomic<int> finished{0};
    const auto body = [&](Worker& worker) {
      if (worker.index() == thrower) throw std::runtime_error("member " + std::to_string(thrower));
      ++finished;
    };
    CHECK_THROWS_WITH(team.run(body), "member " + std::to_string(thrower));
    CHECK(finished == 3);
    check_phases(team, 4, 10);
  }
  const auto all = [](Worker&) { throw std::runtime_error("all"); };
  CHECK_THROWS_WITH(team.run(all), "all");
  CHECK_THROWS_WITH(team.run(all, 1), "all");
  check_phases(team, 4, 10);
}

TEST_CASE("a thread count out of range is refused by name") {
  for (const int threads :
       {0, -1, std::numeric_limits<int>::min(), 4097, std::numeric_limits<int>::max()}) {
    try {
      ThreadTeam team(threads);
      FAIL("accepted " << threads);
    } catch (const r1::Error& error) {
      CHECK(error.code() == r1::ErrorCode::invalid_argument);
      CHECK_THAT(error.what(),
                 Catch::Contains("threads: expected 1 to 4096, got " + std::to_string(threads)));
    }
  }
}

TEST_CASE("idle teams use no CPU") {
  ThreadTeam team(2);
  team.run([](Worker& worker) { worker.barrier(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  // A spinning thread would take 0.3 s.
  CHECK(cpu_seconds() - before < 0.1);
}

TEST_CASE("workers leave the program's signals alone") {
  ThreadTeam team(2);
  sigset_t mask;
  sigemptyset(&mask);
  team.run([&](Worker& worker) {
    if (worker.index() == 1) pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  });
  CHECK(sigismember(&mask, SIGINT) == 1);
  CHECK(sigismember(&mask, SIGTERM) == 1);
  sigset_t own;
  pthread_sigmask(SIG_BLOCK, nullptr, &own);
  CHECK(sigismember(&own, SIGINT) == 0);
}

TEST_CASE("slices cover the range in order, at multiples of the grain") {
  ThreadTeam team(7);
  for (const std::int64_t total : {-3, 0, 1, 6, 7, 8, 100, 151936}) {
    for (const std::int64_t grain : {0, 1, 3, 16, 1000000}) {
      for (int members = 1; members <= 7; ++members) {
        std::vector<Range> ranges(static_cast<std::size_t>(members));
        team.run(
            [&](Worker& worker) {
              ranges[static_cast<std::size_t>(worker.index())] = worker.slice(total, grain);
            },
            members);
        std::int64_t at = 0;
        std::int64_t longest = 0;
        std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
        const std::int64_t step = std::max<std::int64_t>(grain, 1);
        bool in_order = true;
        bool on_grain = true;
        for (const Range& range : ranges) {
          in_order = in_order && range.begin == at && range.end >= range.begin;
          on_grain = on_grain && (range.begin % step == 0 || range.begin == total);
          at = range.end;
          longest = std::max(longest, (range.end - range.begin + step - 1) / step);
          shortest = std::min(shortest, (range.end - range.begin + step - 1) / step);
        }
        CHECK(in_order);
        CHECK(on_grain);
        CHECK(at == std::max<std::int64_t>(total, 0));
        CHECK(longest - shortest <= 1);
      }
    }
  }
}

TEST_CASE("a slice of a huge range does not overflow") {
  ThreadTeam team(3);
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  Range ranges[3];
  team.run([&](Worker& worker) { ranges[worker.index()] = worker.slice(kHuge, 16); });
  CHECK(ranges[0].begin == 0);
  CHECK(ranges[0].end == ranges[1].begin);
  CHECK(ranges[1].end == ranges[2].begin);
  CHECK(ranges[2].end == kHuge);
}

#if defined(__x86_64__)
TEST_CASE("bodies compute with subnormals whatever the caller has set") {
  ThreadTeam team(2);
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // FTZ and DAZ
  volatile float tiny = 1e-38F;
  float halves[2] = {};
  unsigned rounding[2] = {1, 1};
  team.run([&](Worker& worker) {
    halves[worker.index()] = tiny * 0.5F;
    rounding[worker.index()] = _mm_getcsr() & 0xE040;
  });
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK(halves[0] == 5e-39F);
  CHECK(halves[1] == 5e-39F);
  CHECK(rounding[0] == 0);
  CHECK(rounding[1] == 0);
  CHECK((after & 0x8040) == 0x8040);
}
#endif
