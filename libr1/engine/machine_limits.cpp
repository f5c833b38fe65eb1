// Measures the machine. The best of many short runs counts, because a limit is what the machine can
// do when nothing else disturbs it.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <vector>

#include "kernels/api/table.hpp"
#include "libr1/base/aligned_buffer.hpp"
#include "libr1/base/thread_team.hpp"
#include "libr1/engine/settings.hpp"
#include "r1/error.hpp"
#include "r1/measure.hpp"

namespace r1 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kReadGrain = 4096;  // a multiple of what ProbeKernels::read asks for
constexpr std::int64_t kBufferBytesMin = 1 << 20;
constexpr double kSecondsMax = 60;
constexpr int kRoundsMax = 100;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One word a worker, a cache line apart.
struct alignas(64) WorkerResult {
  std::uint64_t checksum = 0;
};

enum class Pages { normal, huge };

/// Bytes a second of the best round.
double measure_read(const kernels::ProbeKernels& probes, base::ThreadTeam& team, int threads,
                    const LimitOptions& options, Pages pages,
                    const std::function<void()>& round_done) {
  const std::int64_t bytes = options.buffer_bytes / kReadGrain * kReadGrain;
  base::AlignedBuffer buffer(static_cast<std::size_t>(bytes), "buffer for reading");
  // AlignedBuffer advises huge pages; no page is there yet.
  if (pages == Pages::normal) madvise(buffer.data(), buffer.size(), MADV_NOHUGEPAGE);
  team.run(
      [&](base::Worker& worker) {
        const base::Range mine = worker.slice(bytes, kReadGrain);
        std::memset(buffer.data() + mine.begin, worker.index() + 1,
                    static_cast<std::size_t>(mine.end - mine.begin));
      },
      threads);
  double best = 0;
  std::vector<WorkerResult> results(static_cast<std::size_t>(threads));
  for (int round = 0; round < options.rounds; ++round) {
    std::int64_t passes = 0;
    const auto begin = Clock::now();
    do {
      team.run(
          [&](base::Worker& worker) {
            const base::Range mine = worker.slice(bytes, kReadGrain);
            results[static_cast<std::size_t>(worker.index())].checksum +=
                probes.read(buffer.data() + mine.begin, mine.end - mine.begin);
          },
          threads);
      ++passes;
    } while (seconds_since(begin) < options.seconds);
    best = std::max(best, static_cast<double>(passes * bytes) / seconds_since(begin));
    round_done();
  }
  return best;
}

/// Multiply-adds a second of the best of many short runs, in `seconds` together.
double measure_macs(const kernels::MultiplyProbe& probe, base::ThreadTeam& team, int threads,
                    double seconds) {
  if (probe.run == nullptr || (probe.available != nullptr && !probe.available())) return 0;
  // About a millisecond: long enough that waking the team is nothing, short enough that some runs
  // are not interrupted on a busy machine.
  constexpr std::int64_t kRounds = 250'000;
  double best = 0;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    team.run([&](base::Worker&) { probe.run(kRounds); }, threads);
    const double macs = static_cast<double>(threads * kRounds * probe.macs);
    best = std::max(best, macs / seconds_since(start));
  } while (seconds_since(begin) < seconds);
  return best;
}

/// Seconds of one barrier, the best of many runs.
double measure_barrier(base::ThreadTeam& team, int threads, double seconds) {
  constexpr int kBarriers = 250;
  double best = kSecondsMax;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    team.run(
        [](base::Worker& worker) {
          for (int i = 0; i < kBarriers; ++i) worker.barrier();
        },
        threads);
    best = std::min(best, seconds_since(start) / kBarriers);
  } while (seconds_since(begin) < seconds);
  return best;
}

void check(const LimitOptions& options) {
  if (!(options.seconds > 0 && options.seconds <= kSecondsMax)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("seconds of a round: expected more than 0 and at most {}, got {}",
                            kSecondsMax, options.seconds));
  }
  if (options.rounds < 1 || options.rounds > kRoundsMax) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("rounds of reading: expected 1 to {}, got {}", kRoundsMax, options.rounds));
  }
  if (options.buffer_bytes < kBufferBytesMin) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("buffer for reading: expected at least {} bytes, got {}",
                            kBufferBytesMin, options.buffer_bytes));
  }
}

}  // namespace

double Limits::best_read() const { return std::max(read_bytes_per_s, read_bytes_per_s_huge); }

void Limits::merge(const Limits& other) {
  read_bytes_per_s = std::max(read_bytes_per_s, other.read_bytes_per_s);
  read_bytes_per_s_huge = std::max(read_bytes_per_s_huge, other.read_bytes_per_s_huge);
  byte_macs_per_s = std::max(byte_macs_per_s, other.byte_macs_per_s);
  float_macs_per_s = std::max(float_macs_per_s, other.float_macs_per_s);
  bf16_macs_per_s = std::max(bf16_macs_per_s, other.bf16_macs_per_s);
  barrier_seconds = std::min(barrier_seconds, other.barrier_seconds);
}

Limits measure_limits(const LimitOptions& options) {
  check(options);
  EngineOptions asked;
  asked.threads = options.threads;
  asked.threads_batch = options.threads_batch;
  asked.isa = options.isa;
  const engine::Settings settings = engine::settle(asked, 1);
  const kernels::ProbeKernels& probes = *settings.table->probes;
  base::ThreadTeam team(std::max(settings.threads, settings.threads_batch));
  // Register loops settle in a fraction of the time that reading takes.
  const double seconds = options.seconds / 4;
  Limits limits;
  limits.isa = kernels::isa_name(settings.table->tier);
  limits.threads = settings.threads;
  limits.threads_batch = settings.threads_batch;
  const int parts = 4 + 2 * options.rounds;
  int done = 0;
  const auto part_done = [&] {
    if (options.on_progress) options.on_progress(static_cast<double>(++done) / parts);
  };
  limits.byte_macs_per_s = measure_macs(probes.bytes, team, settings.threads_batch, seconds);
  part_done();
  limits.float_macs_per_s = measure_macs(probes.floats, team, settings.threads_batch, seconds);
  part_done();
  limits.bf16_macs_per_s = measure_macs(probes.bf16, team, settings.threads_batch, seconds);
  part_done();
  limits.barrier_seconds = measure_barrier(team, settings.threads, seconds);
  part_done();
  limits.read_bytes_per_s =
      measure_read(probes, team, settings.threads, options, Pages::normal, part_done);
  limits.read_bytes_per_s_huge =
      measure_read(probes, team, settings.threads, options, Pages::huge, part_done);
  return limits;
}

bool reset_peak_memory() {
  // proc(5): 5 resets the peak to the current resident set size.
  std::ofstream file("/proc/self/clear_refs");
  file << '5' << std::flush;
  return file.good();
}

}  // namespace r1
