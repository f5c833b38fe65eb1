// Attention kernels, one thread, at the head shapes of real models: decode (one row, deep cache,
// several layers so that the cache comes from memory) and prefill (a chunk of rows). Beside them
// the machine's limits that the shares refer to: multiply-adds of each tier's vector width and
// plain reading from memory.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/api/table.hpp"

namespace r1::kernels {
namespace {

struct Model {
  const char* name;
  std::int64_t kv_heads;
  std::int64_t group;
  std::int64_t head_dim;
};
constexpr Model kModels[] = {
    {"qwen2-0.5b", 2, 7, 64}, {"qwen2-1.5b", 2, 6, 128}, {"qwen2-7b", 4, 7, 128}};

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 engine(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

/// A KV cache of some layers, each a sequence of pages.
class Cache {
 public:
  Cache(const Model& model, KvType type, std::int64_t tokens, std::int64_t layers)
      : model_(model), type_(type), pages_((tokens + kPageTokens - 1) / kPageTokens) {
    const FloatKernels& kernels = *kernel_table(best_isa())->floats;
    const std::int64_t element = type == KvType::f32 ? 4 : 2;
    block_bytes_ = model.head_dim * kPageTokens * element;
    const std::int64_t page_bytes = 2 * model.kv_heads * block_bytes_;
    storage_.resize(static_cast<std::size_t>(layers * pages_ * page_bytes / 64 + 1));
    auto* memory = reinterpret_cast<std::byte*>(storage_.data());
    const auto values =
        random_floats(static_cast<std::size_t>(4096 + model.kv_heads * model.head_dim));
    for (std::int64_t page = 0; page < layers * pages_; ++page) {
      pointers_.push_back(memory + page * page_bytes);
      for (std::int64_t slot = 0; slot < kPageTokens; ++slot) {
        const std::int64_t from = (page * 131 + slot * 17) % 4096;
        kernels.kv_write[static_cast<int>(type)](
            {.k = &values[static_cast<std::size_t>(from)],
             .v = &values[static_cast<std::size_t>(4096 - from)],
             .kv_heads = model.kv_heads,
             .head_dim = model.head_dim,
             .layer_page = memory + page * page_bytes,
             .slot = slot});
      }
    }
  }

  /// All KV heads of one layer: rows that end at the cache's last token.
  void attend(const FloatKernels& kernels, std::int64_t layer, const std::vector<float>& q,
              std::int64_t rows, std::int64_t first_position, std::vector<float>& out) const {
    const std::int64_t stride = model_.kv_heads * model_.group * model_.head_dim;
    for (std::int64_t head = 0; head < model_.kv_heads; ++head) {
      kernels.attention[static_cast<int>(type_)](
          {.q = q.data() + head * model_.group * model_.head_dim,
           .q_stride = stride,
           .rows = rows,
           .group = model_.group,
           .head_dim = model_.head_dim,
           .scale = 1.0f / std::sqrt(static_cast<float>(model_.head_dim)),
           .first_position = first_position,
           .window = 0,
           .pages = pointers_.data() + layer * pages_,
           .k_offset = head * block_bytes_,
           .v_offset = (model_.kv_heads + head) * block_bytes_,
           .bias_terms = 0,
           .bias_q = nullptr,
           .bias_tables = nullptr,
           .out = out.data() + head * model_.group * model_.head_dim,
           .out_stride = stride});
    }
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  Model model_;
  KvType type_;
  std::int64_t pages_;
  std::int64_t block_bytes_ = 0;
  std::vector<Line> storage_;
  std::vector<const std::byte*> pointers_;
};

void run_attention(benchmark::State& state, IsaTier tier, const Model& model, KvType type,
                   std::int64_t first_position, std::int64_t rows) {
  const FloatKernels& kernels = *kernel_table(tier)->floats;
  const std::int64_t tokens = first_position + rows;
  const std::int64_t layer_bytes =
      2 * tokens * model.kv_heads * model.head_dim * (type == KvType::f32 ? 4 : 2);
  // Decode reads from memory: 400 MB are beyond most last-level caches.
  const std::int64_t layers = rows == 1 ? 400'000'000 / layer_bytes : 1;
  const Cache cache(model, type, tokens, layers);
  const std::int64_t row_size = model.kv_heads * model.group * model.head_dim;
  const auto q = random_floats(static_cast<std::size_t>(rows * row_size));
  std::vector<float> out(q.size());
  std::vector<float> expected(q.size());
  cache.attend(*kernel_table(IsaTier::baseline)->floats, 0, q, rows, first_position, expected);
  cache.attend(kernels, 0, q, rows, first_position, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!(std::fabs(out[i] - expected[i]) < 1e-3f)) return state.SkipWithError("wrong result");
  }

  std::int64_t layer = 0;
  for (auto _ : state) {
    cache.attend(kernels, layer, q, rows, first_position, out);
    benchmark::DoNotOptimize(out.data());
    layer = (layer + 1) % layers;
  }
  double positions = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    positions += static_cast<double>(first_position + row + 1);
  const double flops = 4.0 * positions * static_cast<double>(row_size);
  const double bytes = static_cast<double>(layer_bytes);
  const double times = static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(flops * times * 1e-9, benchmark::Counter::kIsRate);
  if (rows == 1) {
    state.counters["GB/s"] = benchmark::Counter(bytes * times * 1e-9, benchmark::Counter::kIsRate);
  }
}

// 12 chains of dependent operations on registers: enough for a latency of 4 to 6 cycles at two
// operations a cycle. `block` runs one operation on each chain; the registers are its own business.
template <class Block>
void run_peak(benchmark::State& state, int lanes, Block block) {
  for (auto _ : state) {
    for (int i = 0; i < 1000; ++i) block();
  }
  const double flops = static_cast<double>(state.iterations()) * 1000 * 12 * 2 * lanes;
  state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsRate);
}

void peak_baseline(benchmark::State& state) {
  run_peak(state, 4, [] {
    asm volatile(
        "xorps %%xmm12, %%xmm12\n"
        "mulps %%xmm12, %%xmm0; addps %%xmm12, %%xmm0\n"
        "mulps %%xmm12, %%xmm1; addps %%xmm12, %%xmm1\n"
        "mulps %%xmm12, %%xmm2; addps %%xmm12, %%xmm2\n"
        "mulps %%xmm12, %%xmm3; addps %%xmm12, %%xmm3\n"
        "mulps %%xmm12, %%xmm4; addps %%xmm12, %%xmm4\n"
        "mulps %%xmm12, %%xmm5; addps %%xmm12, %%xmm5\n"
        "mulps %%xmm12, %%xmm6; addps %%xmm12, %%xmm6\n"
        "mulps %%xmm12, %%xmm7; addps %%xmm12, %%xmm7\n"
        "mulps %%xmm12, %%xmm8; addps %%xmm12, %%xmm8\n"
        "mulps %%xmm12, %%xmm9; addps %%xmm12, %%xmm9\n"
        "mulps %%xmm12, %%xmm10; addps %%xmm12, %%xmm10\n"
        "mulps %%xmm12, %%xmm11; addps %%xmm12, %%xmm11\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12");
  });
}

void peak_avx2(benchmark::State& state) {
  run_peak(state, 8, [] {
    asm volatile(
        "vxorps %%xmm12, %%xmm12, %%xmm12\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm0\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm1\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm2\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm3\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm4\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm5\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm6\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm7\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm8\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm9\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm10\n"
        "vfmadd231ps %%ymm12, %%ymm12, %%ymm11\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12");
  });
}

void peak_avx512_vnni(benchmark::State& state) {
  run_peak(state, 16, [] {
    asm volatile(
        "vxorps %%xmm12, %%xmm12, %%xmm12\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm0\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm1\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm2\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm3\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm4\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm5\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm6\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm7\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm8\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm9\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm10\n"
        "vfmadd231ps %%zmm12, %%zmm12, %%zmm11\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
          "xmm11", "xmm12");
  });
}

// Reading 256 MB in order: one word of every 64-byte line, so that nothing but the memory can
// limit.
void read_memory(benchmark::State& state) {
  const std::vector<std::uint64_t> memory((256u << 20) / 8, 1);
  for (auto _ : state) {
    std::uint64_t sums[4] = {};
    for (std::size_t i = 0; i < memory.size(); i += 32) {
      for (std::size_t j = 0; j < 4; ++j) sums[j] += memory[i + j * 8];
    }
    benchmark::DoNotOptimize(sums);
  }
  state.counters["GB/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * (256u << 20) * 1e-9, benchmark::Counter::kIsRate);
}

bool register_all() {
  benchmark::RegisterBenchmark("limit/read_memory", &read_memory);
  using Peak = void (*)(benchmark::State&);
  constexpr Peak kPeaks[kIsaTierCount] = {&peak_baseline, &peak_avx2, &peak_avx512_vnni};
  for (int i = 0; i < kIsaTierCount; ++i) {
    const IsaTier tier = static_cast<IsaTier>(i);
    if (kernel_table(tier) == nullptr) continue;
    const std::string isa = isa_name(tier);
    benchmark::RegisterBenchmark(("limit/multiply_add/" + isa).c_str(), kPeaks[i]);
    for (const Model& model : kModels) {
      for (const KvType type : {KvType::f16, KvType::f32}) {
        const std::string name = isa + "/" + model.name + (type == KvType::f16 ? "/f16" : "/f32");
        const auto add = [&](const std::string& part, std::int64_t first, std::int64_t rows) {
          benchmark::RegisterBenchmark((part + "/" + name).c_str(), &run_attention, tier, model,
                                       type, first, rows);
        };
        add("decode/depth:512", 511, 1);
        add("decode/depth:8192", 8191, 1);
        add("prefill/rows:512/from:0", 0, 512);
        add("prefill/rows:512/from:3584", 3584, 512);
      }
    }
  }
  return true;
}

const bool registered = register_all();

}  // namespace
}  // namespace r1::kernels

BENCHMARK_MAIN();
