// Speed of the matrix kernels on the shapes of DeepSeek-R1-Distill-Qwen-1.5B, as a share of what
// this machine can do: m = 1 against plain reading of memory, m > 1 against the tier's multiply
// instruction alone (vpdpbusd, maddubs or fma, whichever the kernel is made of), all measured in
// the same run (kernels/api/probes.hpp). Threads split the panels.
//
//   bench_matmul --benchmark_filter='avx512_vnni/Q4_K'
#include <benchmark/benchmark.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/api/pack.hpp"
#include "kernels/api/table.hpp"

namespace {

using r1::kernels::ActivationEncoding;
using r1::kernels::IsaTier;
using r1::kernels::KernelTable;
using r1::kernels::MatmulArgs;
using r1::kernels::WeightType;

struct FreeBytes {
  void operator()(void* p) const { std::free(p); }
};
using Bytes = std::unique_ptr<std::byte[], FreeBytes>;

/// In huge pages where the system gives them, as the engine's weights are.
Bytes aligned_bytes(std::int64_t size) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  const std::size_t whole = (static_cast<std::size_t>(size) + kHuge - 1) / kHuge * kHuge;
  Bytes out(static_cast<std::byte*>(std::aligned_alloc(kHuge, whole)));
#if defined(__linux__)
  madvise(out.get(), whole, MADV_HUGEPAGE);
#endif
  return out;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Multiply-adds a second of one thread at best, with what `encoding`'s kernels are made of.
double peak_macs(const KernelTable& table, ActivationEncoding encoding) {
  constexpr std::int64_t kRounds = 400'000;
  const auto& probe =
      encoding == ActivationEncoding::q8 ? table.probes->bytes : table.probes->floats;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double begin = seconds_now();
    probe.run(kRounds);
    best = std::max(best, static_cast<double>(kRounds * probe.macs) / (seconds_now() - begin));
  }
  return best;
}

/// Bytes a second of one thread that reads memory in order.
double read_bytes_per_second(const KernelTable& table, const std::byte* data, std::int64_t size) {
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double begin = seconds_now();
    benchmark::DoNotOptimize(table.probes->read(data, size));
    best = std::max(best, static_cast<double>(size) / (seconds_now() - begin));
  }
  return best;
}

/// Weights [n, k] with random codes and encoded activations [m, k]; more memory than caches hold.
struct Problem {
  Problem(const KernelTable& table, WeightType type, std::int64_t m, std::int64_t n, std::int64_t k)
      : args{} {
    const auto& info = r1::kernels::format_info(type);
    const std::int64_t row_bytes = r1::kernels::gguf_row_bytes(type, k);
    const std::int64_t panel_bytes = r1::kernels::panel_bytes(type, k);
    const std::int64_t panels = n / r1::kernels::kPanelRows;
    weight_bytes = panels * panel_bytes;
    copies = m == 1 ? std::max<std::int64_t>(1, (std::int64_t{600} << 20) / weight_bytes) : 1;
    packed = aligned_bytes(copies * weight_bytes);
    std::mt19937 random(1);
    std::vector<std::byte> rows(static_cast<std::size_t>(r1::kernels::kPanelRows * row_bytes));
    for (std::byte& byte : rows) byte = static_cast<std::byte>(random() & 0x3b);
    if (info.encoding == ActivationEncoding::f32) {  // no subnormals: 2^-7 as f16, 2^-7 as float32
      for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(info.block_bytes)) {
        rows[i + static_cast<std::size_t>(info.block_bytes) - 1] =
            std::byte{type == WeightType::f16 ? std::uint8_t{0x20} : std::uint8_t{0x3c}};
      }
    }
    r1::kernels::pack_panel(type, rows.data(), r1::kernels::kPanelRows, k, packed.get());
    for (std::int64_t p = 1; p < copies * panels; ++p) {
      std::copy_n(packed.get(), panel_bytes, packed.get() + p * panel_bytes);
    }
    const std::int64_t stride = r1::kernels::encoded_row_bytes(info.encoding, k);
    x = aligned_bytes(m * stride);
    std::normal_distribution<float> normal(0, 1);
    std::vector<float> row(static_cast<std::size_t>(k));
    for (std::int64_t r = 0; r < m; ++r) {
      for (float& value : row) value = normal(random);
      table.encode[static_cast<int>(info.encoding)](row.data(), k, x.get() + r * stride);
    }
    y.resize(static_cast<std::size_t>(m * n));
    args.panels = packed.get();
    args.n = n;
    args.k = k;
    args.panel_end = panels;
    args.x = x.get();
    args.x_stride = stride;
    args.m = m;
    args.y = y.data();
    args.y_stride = n;
    check(table, type, rows, k);
  }

  /// The first columns against a scalar product of the decoded rows and decoded activations.
  void check(const KernelTable& table, WeightType type, const std::vector<std::byte>& rows,
             std::int64_t k) const {
    MatmulArgs one = args;
    one.panel_end = 1;
    table.matrix[static_cast<int>(type)]->matmul(one);
    std::vector<float> w(static_cast<std::size_t>(k));
    r1::kernels::decode_gguf_row(type, rows.data(), k, w.data());
    double sum = 0;
    double magnitude = 0;
    const bool q8 = r1::kernels::format_info(type).encoding == ActivationEncoding::q8;
    const std::byte* scales = x.get() + (k + 63) / 64 * 64;
    for (std::int64_t i = 0; i < k; ++i) {
      float value = 0;
      std::copy_n(q8 ? scales + i / 32 * 4 : x.get() + 4 * i, 4,
                  reinterpret_cast<std::byte*>(&value));
      if (q8) value *= static_cast<float>(static_cast<signed char>(x[static_cast<std::size_t>(i)]));
      sum += static_cast<double>(value) * w[static_cast<std::size_t>(i)];
      magnitude += std::abs(static_cast<double>(value) * w[static_cast<std::size_t>(i)]);
    }
    if (!(std::abs(sum - static_cast<double>(y[0])) <= 1e-4 * magnitude)) {
      std::fprintf(stderr, "matmul: expected %g, got %g\n", sum, static_cast<double>(y[0]));
      std::exit(1);
    }
  }

  MatmulArgs args;
  std::int64_t weight_bytes;
  std::int64_t copies;
  Bytes packed;
  Bytes x;
  std::vector<float> y;
};

void run(benchmark::State& state, IsaTier tier, WeightType type, std::int64_t m, std::int64_t n,
         std::int64_t k) {
  static std::unique_ptr<Problem> problem;
  const KernelTable& table = *r1::kernels::kernel_table(tier);
  if (state.thread_index() == 0) problem = std::make_unique<Problem>(table, type, m, n, k);
  std::int64_t round = 0;
  MatmulArgs args{};
  bool ready = false;
  for (auto _ : state) {
    if (!ready) {  // the first iteration comes after all threads have met
      args = problem->args;
      const std::int64_t panels = args.panel_end;
      args.panel_begin = panels * state.thread_index() / state.threads();
      args.panel_end = panels * (state.thread_index() + 1) / state.threads();
      ready = true;
    }
    args.panels = problem->packed.get() + round % problem->copies * problem->weight_bytes;
    table.matrix[static_cast<int>(type)]->matmul(args);
    ++round;
  }
  const double share = static_cast<double>(state.iterations()) / state.threads();
  using benchmark::Counter;
  const double macs = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  state.counters["GMAC/s"] = Counter(share * macs / 1e9, Counter::kIsRate);
  state.counters["GB/s"] =
      Counter(share * static_cast<double>(problem->weight_bytes) / 1e9, Counter::kIsRate);
  // m = 1 is compared with the same run's "read" at the same number of threads.
  if (m > 1 && state.thread_index() == 0) {
    const double peak = peak_macs(table, r1::kernels::format_info(type).encoding);
    state.counters["of_peak"] =
        Counter(share * state.threads() * macs / (peak * state.threads()), Counter::kIsRate);
  }
}

/// Plain reading of 600 MB by all threads: the limit of m = 1.
void read_memory(benchmark::State& state) {
  const std::int64_t size = std::int64_t{600} << 20;
  const Bytes data = aligned_bytes(size);
  std::fill_n(data.get(), size, std::byte{1});
  const KernelTable& table = *r1::kernels::kernel_table(r1::kernels::best_isa());
  double best = 0;
  for (auto _ : state) {
    best = std::max(best, read_bytes_per_second(table, data.get(), size));
  }
  state.counters["GB/s"] = best / 1e9;
}

struct Shape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

}  // namespace

int main(int argc, char** argv) {
  const Shape shapes[] = {{1, 8960, 1536},  {1, 1536, 8960},   {4, 8960, 1536},
                          {16, 8960, 1536}, {512, 8960, 1536}, {512, 1536, 8960}};
  for (const int threads : {1, 2}) {
    benchmark::RegisterBenchmark("read", read_memory)
        ->Threads(threads)
        ->Iterations(1)
        ->UseRealTime();
    for (int tier = r1::kernels::kIsaTierCount - 1; tier >= 0; --tier) {
      const auto isa = static_cast<IsaTier>(tier);
      if (!r1::kernels::isa_available(isa)) continue;
      for (int type = 0; type < r1::kernels::kWeightTypeCount; ++type) {
        const auto weight = static_cast<WeightType>(type);
        for (const Shape& shape : shapes) {
          const std::string name = std::string(r1::kernels::isa_name(isa)) + "/" +
                                   r1::kernels::format_info(weight).name + "/m" +
                                   std::to_string(shape.m) + "/n" + std::to_string(shape.n) + "/k" +
                                   std::to_string(shape.k);
          benchmark::RegisterBenchmark(
              name.c_str(),
              [=](benchmark::State& state) { run(state, isa, weight, shape.m, shape.n, shape.k); })
              ->Threads(threads)
              ->UseRealTime();
        }
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
