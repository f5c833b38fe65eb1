// Element-wise float32 kernels, the activation encoder and the KV writer, one thread, at the row
// lengths of real models and with data in cache, as it is between two matrix products. GB/s count
// what is read and written; the limit is reading as many bytes from that cache, or the tier's float
// multiply-adds where arithmetic is most of the work.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bench/limits.hpp"
#include "kernels/api/pack.hpp"
#include "kernels/api/table.hpp"
#include "libr1/base/aligned_buffer.hpp"

namespace r1::kernels {
namespace {

std::vector<float> random_floats(std::int64_t count) {
  std::mt19937 engine(5);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(engine);
  return values;
}

bool near(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::fabs(a[i] - b[i]) < 1e-5f)) return false;
  }
  return true;
}

/// `bytes` read and written a run, against reading as many from the cache that holds them.
void count_bytes(benchmark::State& state, IsaTier tier, std::int64_t bytes) {
  using benchmark::Counter;
  const double all = static_cast<double>(state.iterations()) * static_cast<double>(bytes);
  state.counters["GB/s"] = Counter(all * 1e-9, Counter::kIsRate);
  state.counters["of_reading"] =
      Counter(all / bench::read_bytes_per_s(*kernel_table(tier), bytes), Counter::kIsRate);
}

/// `multiplies` multiplications a run, with an addition or without.
void count_multiplies(benchmark::State& state, IsaTier tier, std::int64_t multiplies) {
  using benchmark::Counter;
  const double all = static_cast<double>(state.iterations()) * static_cast<double>(multiplies);
  state.counters["GMAC/s"] = Counter(all * 1e-9, Counter::kIsRate);
  state.counters["of_peak"] =
      Counter(all / bench::float_macs_per_s(*kernel_table(tier)), Counter::kIsRate);
}

const FloatKernels& kernels_of(IsaTier tier) { return *kernel_table(tier)->floats; }

void rms_norm(benchmark::State& state, IsaTier tier, std::int64_t k) {
  const std::vector<float> x = random_floats(k);
  std::vector<float> expected(x.size());
  std::vector<float> y(x.size());
  kernels_of(IsaTier::baseline).rms_norm(x.data(), x.data(), k, 1e-6f, expected.data());
  for (auto _ : state) {
    kernels_of(tier).rms_norm(x.data(), x.data(), k, 1e-6f, y.data());
    benchmark::ClobberMemory();
  }
  if (!near(y, expected)) return state.SkipWithError("wrong result");
  count_bytes(state, tier, k * 12);
}

void silu_mul(benchmark::State& state, IsaTier tier, std::int64_t k) {
  const std::vector<float> x = random_floats(k);
  std::vector<float> expected(x.size());
  std::vector<float> y(x.size());
  kernels_of(IsaTier::baseline).silu_mul(x.data(), x.data(), k, expected.data());
  for (auto _ : state) {
    kernels_of(tier).silu_mul(x.data(), x.data(), k, y.data());
    benchmark::ClobberMemory();
  }
  if (!near(y, expected)) return state.SkipWithError("wrong result");
  constexpr std::int64_t kMultiplies = 12;  // a value: 8 fused ones in exp(), and 4 products
  count_multiplies(state, tier, k * kMultiplies);
}

void encode(benchmark::State& state, IsaTier tier, std::int64_t k) {
  constexpr int kQ8 = static_cast<int>(ActivationEncoding::q8);
  const std::vector<float> x = random_floats(k);
  const std::int64_t bytes = encoded_row_bytes(ActivationEncoding::q8, k);
  base::AlignedBuffer expected(static_cast<std::size_t>(bytes), "expected row");
  base::AlignedBuffer row(static_cast<std::size_t>(bytes), "encoded row");
  kernel_table(IsaTier::baseline)->encode[kQ8](x.data(), k, expected.data());
  for (auto _ : state) {
    kernel_table(tier)->encode[kQ8](x.data(), k, row.data());
    benchmark::ClobberMemory();
  }
  if (std::memcmp(row.data(), expected.data(), row.size()) != 0) {
    return state.SkipWithError("wrong result");
  }
  count_bytes(state, tier, k * 4 + bytes);
}

void all_finite(benchmark::State& state, IsaTier tier, std::int64_t n) {
  const std::vector<float> x = random_floats(n);
  bool finite = true;
  for (auto _ : state) {
    finite = kernels_of(tier).all_finite(x.data(), n);
    benchmark::DoNotOptimize(finite);
  }
  if (!finite) return state.SkipWithError("wrong result");
  count_bytes(state, tier, n * 4);
}

void rope(benchmark::State& state, IsaTier tier, std::int64_t heads) {
  constexpr std::int64_t kDim = 128;
  std::vector<float> x = random_floats(heads * kDim);
  // A rotation by 0.6, 0.8: lengths stay, however often it is done.
  const std::vector<float> cos(kDim / 2, 0.6f);
  const std::vector<float> sin(kDim / 2, 0.8f);
  const float before = std::hypot(x[0], x[kDim / 2]);
  for (auto _ : state) {
    kernels_of(tier).rope(
        {.x = x.data(), .heads = heads, .head_dim = kDim, .cos = cos.data(), .sin = sin.data()});
    benchmark::ClobberMemory();
  }
  if (!(std::fabs(std::hypot(x[0], x[kDim / 2]) / before - 1.0f) < 0.5f)) {
    return state.SkipWithError("wrong result");
  }
  count_bytes(state, tier, heads * kDim * 8);
}

void kv_write(benchmark::State& state, IsaTier tier, KvType type) {
  constexpr std::int64_t kHeads = 2;
  constexpr std::int64_t kDim = 128;
  const std::vector<float> k = random_floats(kHeads * kDim);
  const std::int64_t token_bytes = 2 * kHeads * kv_head_bytes(type, kDim) / kPageTokens;
  const auto bytes = static_cast<std::size_t>(token_bytes * kPageTokens);
  base::AlignedBuffer expected(bytes, "expected page");
  base::AlignedBuffer page(bytes, "page");
  const auto write = [&](IsaTier by, std::byte* to, std::int64_t slot) {
    kernels_of(by).kv_write[static_cast<int>(type)]({.k = k.data(),
                                                     .v = k.data(),
                                                     .kv_heads = kHeads,
                                                     .head_dim = kDim,
                                                     .layer_page = to,
                                                     .slot = slot});
  };
  for (std::int64_t slot = 0; slot < kPageTokens; ++slot) {
    write(IsaTier::baseline, expected.data(), slot);
    write(tier, page.data(), slot);
  }
  std::int64_t slot = 0;
  for (auto _ : state) {
    write(tier, page.data(), slot);
    benchmark::ClobberMemory();
    slot = (slot + 1) % kPageTokens;
  }
  if (std::memcmp(page.data(), expected.data(), bytes) != 0) {
    return state.SkipWithError("wrong result");
  }
  count_bytes(state, tier, 2 * kHeads * kDim * 4 + token_bytes);
}

bool register_all() {
  for (int i = 0; i < kIsaTierCount; ++i) {
    const IsaTier tier = static_cast<IsaTier>(i);
    if (kernel_table(tier) == nullptr) continue;
    const std::string isa = isa_name(tier);
    const auto add = [&](const std::string& name, auto function, auto argument) {
      benchmark::RegisterBenchmark((name + "/" + isa).c_str(), function, tier, argument);
    };
    // Hidden and feed-forward sizes of Qwen2 0.5B, 1.5B and 7B.
    for (const std::int64_t k : {896, 1536, 3584}) {
      add("rms_norm/k:" + std::to_string(k), &rms_norm, k);
      add("encode/k:" + std::to_string(k), &encode, k);
    }
    for (const std::int64_t k : {4864, 8960, 18944}) {
      add("silu_mul/k:" + std::to_string(k), &silu_mul, k);
      add("encode/k:" + std::to_string(k), &encode, k);
    }
    add("all_finite/n:151936", &all_finite, std::int64_t{151936});
    add("rope/heads:12", &rope, std::int64_t{12});
    add("kv_write/f16", &kv_write, KvType::f16);
    add("kv_write/q8", &kv_write, KvType::q8);
    add("kv_write/f32", &kv_write, KvType::f32);
  }
  return true;
}

const bool registered = register_all();

}  // namespace
}  // namespace r1::kernels

BENCHMARK_MAIN();
