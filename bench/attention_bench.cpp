// Attention kernels, one thread, at the head shapes of real models: decode (one row at several
// depths, layer after layer of pages that hold all of them, so that the cache comes from memory)
// and prefill (a job of 16 rows at several depths). Shares are of reading memory and of the tier's
// float multiply-adds; the best run of each case counts.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/limits.hpp"
#include "kernels/api/table.hpp"
#include "libr1/base/aligned_buffer.hpp"

namespace r1::kernels {
namespace {

struct Model {
  const char* name;
  std::int64_t layers;
  std::int64_t kv_heads;
  std::int64_t group;
  std::int64_t head_dim;

  std::int64_t row_size() const { return kv_heads * group * head_dim; }
};
constexpr Model kModels[] = {
    {"qwen2-0.5b", 24, 2, 7, 64}, {"qwen2-1.5b", 28, 2, 6, 128}, {"qwen2-7b", 28, 4, 7, 128}};

constexpr std::pair<KvType, const char*> kTypes[] = {
    {KvType::f16, "f16"}, {KvType::q8, "q8"}, {KvType::f32, "f32"}};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// amount per second of one run.
template <class Run>
double rate_of(double amount, Run run) {
  const double start = seconds();
  run();
  return amount / (seconds() - start);
}

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 engine(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

/// A sequence's KV cache: pages of all layers, as the engine's pool lays them out.
class Cache {
 public:
  Cache(const Model& model, KvType type, std::int64_t tokens)
      : model_(model),
        type_(type),
        head_bytes_(kv_head_bytes(type, model.head_dim)),
        layer_bytes_(2 * model.kv_heads * head_bytes_),
        pages_((tokens + kPageTokens - 1) / kPageTokens),
        memory_(static_cast<std::size_t>(pages_ * model.layers * layer_bytes_), "pages"),
        scratch_(kAttentionScratchBytes, "scratch") {
    const FloatKernels& kernels = *kernel_table(best_isa())->floats;
    const auto values =
        random_floats(static_cast<std::size_t>(4096 + model.kv_heads * model.head_dim));
    for (std::int64_t page = 0; page < pages_; ++page) {
      pointers_.push_back(memory_.data() + page * model.layers * layer_bytes_);
      for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        for (std::int64_t slot = 0; slot < kPageTokens; ++slot) {
          const std::int64_t from = (page * 131 + layer * 71 + slot * 17) % 4096;
          kernels.kv_write[static_cast<int>(type)](
              {.k = &values[static_cast<std::size_t>(from)],
               .v = &values[static_cast<std::size_t>(4096 - from)],
               .kv_heads = model.kv_heads,
               .head_dim = model.head_dim,
               .layer_page = memory_.data() + (page * model.layers + layer) * layer_bytes_,
               .slot = slot});
        }
      }
    }
  }

  std::int64_t layer_bytes() const { return pages_ * layer_bytes_; }

  /// `rows` rows from `first_position` on, for one KV head of one layer.
  void attend(const FloatKernels& kernels, std::int64_t layer, std::int64_t head,
              const std::vector<float>& q, std::int64_t rows, std::int64_t first_position,
              std::vector<float>& out) {
    const std::int64_t column = head * model_.group * model_.head_dim;
    AttentionArgs args{};
    args.q = q.data() + column;
    args.q_stride = model_.row_size();
    args.rows = rows;
    args.group = model_.group;
    args.head_dim = model_.head_dim;
    args.scale = 1.0f / std::sqrt(static_cast<float>(model_.head_dim));
    args.first_position = first_position;
    args.pages = pointers_.data();
    args.k_offset = layer * layer_bytes_ + head * head_bytes_;
    args.v_offset = args.k_offset + model_.kv_heads * head_bytes_;
    args.out = out.data() + column;
    args.out_stride = model_.row_size();
    args.scratch = scratch_.data();
    kernels.attention[static_cast<int>(type_)](args);
  }

 private:
  Model model_;
  KvType type_;
  std::int64_t head_bytes_;
  std::int64_t layer_bytes_;
  std::int64_t pages_;
  base::AlignedBuffer memory_;
  base::AlignedBuffer scratch_;
  std::vector<const std::byte*> pointers_;
};

bool is_right(Cache& cache, const FloatKernels& kernels, const std::vector<float>& q,
              std::int64_t rows, std::int64_t first_position, std::vector<float>& out) {
  std::vector<float> expected(q.size());
  const FloatKernels& baseline = *kernel_table(IsaTier::baseline)->floats;
  cache.attend(baseline, 0, 0, q, rows, first_position, expected);
  cache.attend(kernels, 0, 0, q, rows, first_position, out);
  return std::equal(out.begin(), out.end(), expected.begin(),
                    [](float a, float b) { return std::fabs(a - b) < 1e-3f; });
}

void decode(benchmark::State& state, IsaTier tier, const Model& model, KvType type) {
  const std::int64_t depth = state.range(0);
  const FloatKernels& kernels = *kernel_table(tier)->floats;
  Cache cache(model, type, depth);
  const auto q = random_floats(static_cast<std::size_t>(model.row_size()));
  std::vector<float> out(q.size());
  if (!is_right(cache, kernels, q, 1, depth - 1, out)) return state.SkipWithError("wrong result");
  const auto bytes = static_cast<double>(model.layers * cache.layer_bytes());
  double best = 0;
  for (auto _ : state) {
    const double rate = rate_of(bytes, [&] {
      for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        for (std::int64_t head = 0; head < model.kv_heads; ++head) {
          cache.attend(kernels, layer, head, q, 1, depth - 1, out);
        }
      }
    });
    best = std::max(best, rate);
  }
  state.counters["best_ms"] = bytes / best * 1e3;
  state.counters["best_GB/s"] = best * 1e-9;
  state.counters["of_reading"] =
      best / bench::read_bytes_per_s(*kernel_table(best_isa()), bench::kMemoryBytes);
}

void prefill(benchmark::State& state, IsaTier tier, const Model& model, KvType type) {
  constexpr std::int64_t kRows = 16;
  const std::int64_t depth = state.range(0);
  const FloatKernels& kernels = *kernel_table(tier)->floats;
  Model one_layer = model;
  one_layer.layers = 1;
  Cache cache(one_layer, type, depth + kRows);
  const auto q = random_floats(static_cast<std::size_t>(kRows * model.row_size()));
  std::vector<float> out(q.size());
  if (!is_right(cache, kernels, q, kRows, depth, out)) return state.SkipWithError("wrong result");
  // What a row sees, for scores and for the weighted sum.
  const auto positions = static_cast<double>(kRows * depth + kRows * (kRows + 1) / 2);
  const double macs = 2 * positions * static_cast<double>(model.group * model.head_dim);
  double best = 0;
  for (auto _ : state) {
    best =
        std::max(best, rate_of(macs, [&] { cache.attend(kernels, 0, 0, q, kRows, depth, out); }));
  }
  state.counters["best_GMAC/s"] = best * 1e-9;
  state.counters["of_peak"] = best / bench::float_macs_per_s(*kernel_table(tier));
}

bool register_all() {
  for (int i = 0; i < kIsaTierCount; ++i) {
    const IsaTier tier = static_cast<IsaTier>(i);
    if (kernel_table(tier) == nullptr) continue;
    for (const Model& model : kModels) {
      for (const auto& [type, type_name] : kTypes) {
        const std::string name = std::string(isa_name(tier)) + "/" + model.name + "/" + type_name;
        benchmark::RegisterBenchmark(("decode/" + name).c_str(), &decode, tier, model, type)
            ->ArgName("depth")
            ->Arg(512)
            ->Arg(2048)
            ->Arg(8192);
        benchmark::RegisterBenchmark(("prefill/" + name).c_str(), &prefill, tier, model, type)
            ->ArgName("depth")
            ->Arg(0)
            ->Arg(512)
            ->Arg(2048)
            ->Arg(8192);
      }
    }
  }
  return true;
}

const bool registered = register_all();

}  // namespace
}  // namespace r1::kernels

BENCHMARK_MAIN();
