// Speed of the matrix kernels on the shapes of DeepSeek-R1-Distill-Qwen-1.5B, as a share of what
// this machine can do: m = 1 against plain reading of memory by as many threads, m > 1 against the
// tier's multiply instruction alone (vpdpbusd, maddubs or fma, whichever the kernel is made of).
// Threads split the panels.
//
//   bench_matmul --benchmark_filter='avx512_vnni/Q4_K'
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/limits.hpp"
#include "kernels/api/pack.hpp"
#include "kernels/api/table.hpp"
#include "libr1/base/aligned_buffer.hpp"

namespace {

using r1::base::AlignedBuffer;
using r1::bench::byte_macs_per_s;
using r1::bench::float_macs_per_s;
using r1::bench::read_bytes_per_s;
using r1::kernels::ActivationEncoding;
using r1::kernels::IsaTier;
using r1::kernels::KernelTable;
using r1::kernels::MatmulArgs;
using r1::kernels::WeightType;

/// Weights [n, k] with random codes and encoded activations [m, k]; more memory than caches hold.
struct Problem {
  Problem(const KernelTable& table, WeightType type, std::int64_t m, std::int64_t n, std::int64_t k)
      : args{} {
    const auto& info = r1::kernels::format_info(type);
    const std::int64_t row_bytes = r1::kernels::gguf_row_bytes(type, k);
    const std::int64_t panel_bytes = r1::kernels::panel_bytes(type, k);
    const std::int64_t panels = n / r1::kernels::kPanelRows;
    weight_bytes = panels * panel_bytes;
    copies = m == 1 ? std::max<std::int64_t>(1, r1::bench::kMemoryBytes / weight_bytes) : 1;
    packed = AlignedBuffer(static_cast<std::size_t>(copies * weight_bytes), "weights");
    std::mt19937 random(1);
    std::vector<std::byte> rows(static_cast<std::size_t>(r1::kernels::kPanelRows * row_bytes));
    for (std::byte& byte : rows) byte = static_cast<std::byte>(random() & 0x3b);
    if (info.encoding == ActivationEncoding::f32) {  // no subnormals: 2^-7 as f16, 2^-7 as float32
      for (std::size_t i = 0; i < rows.size(); i += static_cast<std::size_t>(info.block_bytes)) {
        rows[i + static_cast<std::size_t>(info.block_bytes) - 1] =
            std::byte{type == WeightType::f16 ? std::uint8_t{0x20} : std::uint8_t{0x3c}};
      }
    }
    r1::kernels::pack_panel(type, rows.data(), r1::kernels::kPanelRows, k, packed.data());
    for (std::int64_t p = 1; p < copies * panels; ++p) {
      std::copy_n(packed.data(), panel_bytes, packed.data() + p * panel_bytes);
    }
    const std::int64_t stride = r1::kernels::encoded_row_bytes(info.encoding, k);
    x = AlignedBuffer(static_cast<std::size_t>(m * stride), "activations");
    std::normal_distribution<float> normal(0, 1);
    std::vector<float> row(static_cast<std::size_t>(k));
    for (std::int64_t r = 0; r < m; ++r) {
      for (float& value : row) value = normal(random);
      table.encode[static_cast<int>(info.encoding)](row.data(), k, x.data() + r * stride);
    }
    y.resize(static_cast<std::size_t>(m * n));
    args.panels = packed.data();
    args.n = n;
    args.k = k;
    args.panel_end = panels;
    args.x = x.data();
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
    const std::byte* scales = x.data() + (k + 63) / 64 * 64;
    for (std::int64_t i = 0; i < k; ++i) {
      float value = 0;
      std::copy_n(q8 ? scales + i / 32 * 4 : x.data() + 4 * i, 4,
                  reinterpret_cast<std::byte*>(&value));
      if (q8) value *= static_cast<float>(static_cast<signed char>(x.data()[i]));
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
  AlignedBuffer packed;
  AlignedBuffer x;
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
    args.panels = problem->packed.data() + round % problem->copies * problem->weight_bytes;
    table.matrix[static_cast<int>(type)]->matmul(args);
    ++round;
  }
  // Each thread counts its part; a share of the limit is counted once for all.
  const auto iterations = static_cast<double>(state.iterations());
  const double share = iterations / state.threads();
  using benchmark::Counter;
  const double macs = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  state.counters["GMAC/s"] = Counter(share * macs / 1e9, Counter::kIsRate);
  state.counters["GB/s"] =
      Counter(share * static_cast<double>(problem->weight_bytes) / 1e9, Counter::kIsRate);
  if (state.thread_index() != 0) return;
  if (m == 1) {
    const KernelTable& best = *r1::kernels::kernel_table(r1::kernels::best_isa());
    const double limit = read_bytes_per_s(best, r1::bench::kMemoryBytes, state.threads());
    state.counters["of_reading"] =
        Counter(iterations * static_cast<double>(problem->weight_bytes) / limit, Counter::kIsRate);
  } else {
    const bool q8 = r1::kernels::format_info(type).encoding == ActivationEncoding::q8;
    const double peak = q8 ? byte_macs_per_s(table) : float_macs_per_s(table);
    state.counters["of_peak"] =
        Counter(iterations * macs / (peak * state.threads()), Counter::kIsRate);
  }
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
