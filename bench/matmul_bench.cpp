// Speed of the matrix kernels on the shapes of DeepSeek-R1-Distill-Qwen-1.5B, as a share of what
// this machine can do: m = 1 against plain reading of memory, m > 1 against the tier's fastest
// multiply-add loop (vpdpbusd, maddubs or fma, whichever the kernel is made of), all measured in
// the same run. Threads split the panels.
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

#if defined(__x86_64__)
// Assembly, because compilers keep arrays of vectors in memory now and then, and then measure that.
// Registers are cleared first: what they held might be subnormal.

/// 12 independent vpdpbusd of 512 bits.
double vnni_macs_per_second() {
  constexpr int kLoops = 400'000;
  const double begin = seconds_now();
  for (int i = 0; i < kLoops; ++i) {
    __asm__ volatile(
        "vpxord %%zmm15,%%zmm15,%%zmm15\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm0\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm1\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm2\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm3\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm4\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm5\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm6\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm7\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm8\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm9\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm10\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm11\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
  return kLoops * 12.0 * 64 / (seconds_now() - begin);
}

/// 12 independent fma of 512 bits.
double fma512_macs_per_second() {
  constexpr int kLoops = 400'000;
  const double begin = seconds_now();
  for (int i = 0; i < kLoops; ++i) {
    __asm__ volatile(
        "vpxord %%zmm15,%%zmm15,%%zmm15\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm0\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm1\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm2\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm3\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm4\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm5\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm6\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm7\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm8\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm9\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm10\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm11\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
  return kLoops * 12.0 * 16 / (seconds_now() - begin);
}

/// 12 independent fma of 256 bits.
double fma256_macs_per_second() {
  constexpr int kLoops = 400'000;
  const double begin = seconds_now();
  for (int i = 0; i < kLoops; ++i) {
    __asm__ volatile(
        "vpxor %%ymm15,%%ymm15,%%ymm15\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm0\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm1\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm2\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm3\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm4\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm5\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm6\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm7\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm8\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm9\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm10\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm11\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
  return kLoops * 12.0 * 8 / (seconds_now() - begin);
}

/// maddubs and an addition of int16: the least that a product of bytes takes here.
double maddubs256_macs_per_second() {
  constexpr int kLoops = 400'000;
  const double begin = seconds_now();
  for (int i = 0; i < kLoops; ++i) {
    __asm__ volatile(
        "vpxor %%ymm15,%%ymm15,%%ymm15\n"
        "vpmaddubsw %%ymm15,%%ymm15,%%ymm6\n"
        "vpaddw %%ymm6,%%ymm0,%%ymm0\n"
        "vpmaddubsw %%ymm15,%%ymm15,%%ymm7\n"
        "vpaddw %%ymm7,%%ymm1,%%ymm1\n"
        "vpmaddubsw %%ymm15,%%ymm15,%%ymm8\n"
        "vpaddw %%ymm8,%%ymm2,%%ymm2\n"
        "vpmaddubsw %%ymm15,%%ymm15,%%ymm9\n"
        "vpaddw %%ymm9,%%ymm3,%%ymm3\n"
        "vpmaddubsw %%ymm15,%%ymm15,%%ymm10\n"
        "vpaddw %%ymm10,%%ymm4,%%ymm4\n"
        "vpmaddubsw %%ymm15,%%ymm15,%%ymm11\n"
        "vpaddw %%ymm11,%%ymm5,%%ymm5\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
  return kLoops * 6.0 * 32 / (seconds_now() - begin);
}

#endif

/// Multiply-adds a second of one thread at best. The baseline's are half of those of AVX2.
double peak_macs(IsaTier tier, ActivationEncoding encoding) {
#if defined(__x86_64__)
  const bool bytes = encoding == ActivationEncoding::q8;
  const auto best = [](double (*measure)()) {
    double most = 0;
    for (int i = 0; i < 5; ++i) most = std::max(most, measure());
    return most;
  };
  if (tier == IsaTier::avx512_vnni) {
    return best(bytes ? vnni_macs_per_second : fma512_macs_per_second);
  }
  if (r1::kernels::isa_available(IsaTier::avx2)) {
    return best(bytes ? maddubs256_macs_per_second : fma256_macs_per_second) /
           (tier == IsaTier::avx2 ? 1 : 2);
  }
#endif
  return std::nan("");
}

/// Bytes a second of one thread that reads memory in order.
double read_bytes_per_second(const std::byte* data, std::int64_t size) {
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(data);
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    const double begin = seconds_now();
    for (std::int64_t w = 0; w + 8 <= size / 8; w += 8) {
      __builtin_prefetch(words + w + 256);
      a |= words[w] | words[w + 1] | words[w + 2] | words[w + 3];
      b |= words[w + 4] | words[w + 5] | words[w + 6] | words[w + 7];
    }
    const double seconds = seconds_now() - begin;
    benchmark::DoNotOptimize(a);
    benchmark::DoNotOptimize(b);
    best = std::max(best, static_cast<double>(size) / seconds);
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
    const double peak = peak_macs(tier, r1::kernels::format_info(type).encoding);
    state.counters["of_peak"] =
        Counter(share * state.threads() * macs / (peak * state.threads()), Counter::kIsRate);
  }
}

/// Plain reading of 600 MB by all threads: the limit of m = 1.
void read_memory(benchmark::State& state) {
  const std::int64_t size = std::int64_t{600} << 20;
  const Bytes data = aligned_bytes(size);
  std::fill_n(data.get(), size, std::byte{1});
  double best = 0;
  for (auto _ : state) best = std::max(best, read_bytes_per_second(data.get(), size));
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
