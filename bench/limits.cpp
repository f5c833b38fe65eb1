// Short runs of the probes, timed one by one.
#include "bench/limits.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <tuple>
#include <vector>

#include "libr1/base/aligned_buffer.hpp"

namespace r1::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double macs_per_s(const kernels::MultiplyProbe& probe, double& best) {
  constexpr std::int64_t kRounds = 50'000;  // some 0.1 ms
  for (int run = 0; run < 50; ++run) {
    const auto begin = Clock::now();
    probe.run(kRounds);
    best = std::max(best, static_cast<double>(kRounds * probe.macs) / seconds_since(begin));
  }
  return best;
}

/// Memory that has been written: pages that were never touched are all the same page of zeros.
const std::byte* memory() {
  static const base::AlignedBuffer buffer = [] {
    base::AlignedBuffer made(static_cast<std::size_t>(kMemoryBytes), "memory to read");
    std::fill_n(made.data(), made.size(), std::byte{1});
    return made;
  }();
  return buffer.data();
}

/// `passes` times [data, data + bytes).
void read(const kernels::KernelTable& table, const std::byte* data, std::int64_t bytes,
          std::int64_t passes) {
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    benchmark::DoNotOptimize(table.probes->read(data, bytes));
  }
}

}  // namespace

double byte_macs_per_s(const kernels::KernelTable& table) {
  static double best[kernels::kIsaTierCount] = {};
  return macs_per_s(table.probes->bytes, best[static_cast<int>(table.tier)]);
}

double float_macs_per_s(const kernels::KernelTable& table) {
  static double best[kernels::kIsaTierCount] = {};
  return macs_per_s(table.probes->floats, best[static_cast<int>(table.tier)]);
}

double read_bytes_per_s(const kernels::KernelTable& table, std::int64_t bytes, int threads) {
  static std::map<std::tuple<kernels::IsaTier, std::int64_t, int>, double> known;
  constexpr std::int64_t kStep = 512;          // the probe reads multiples of this
  constexpr std::int64_t kRunBytes = 4 << 20;  // at least, so that clocks and starts cost nothing
  constexpr std::int64_t kEnough = std::int64_t{2} << 30;  // to read for a figure
  const std::int64_t share = std::max(kStep, bytes / threads / kStep * kStep);
  const std::int64_t passes = (kRunBytes + share - 1) / share;
  const std::byte* const data = memory();
  double& best = known[{table.tier, share, threads}];
  for (std::int64_t left = kEnough; left > 0; left -= threads * share * passes) {
    const auto begin = Clock::now();
    std::vector<std::thread> others;
    for (int index = 1; index < threads; ++index) {
      others.emplace_back([&, index] { read(table, data + index * share, share, passes); });
    }
    read(table, data, share, passes);
    for (std::thread& other : others) other.join();
    best = std::max(best, static_cast<double>(threads * share * passes) / seconds_since(begin));
  }
  return best;
}

}  // namespace r1::bench
