// One choice over the vocabulary of Qwen2 (151,936 rows) for the chains that people use, on logits
// of several shapes. Each case checks its first choices against itself with a fresh chain.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "bench/limits.hpp"
#include "kernels/api/table.hpp"
#include "libr1/sampling/chain.hpp"

namespace {

using r1::TokenId;
using r1::sampling::Chain;
using r1::sampling::Params;

constexpr std::size_t kVocab = 151936;
constexpr std::size_t kNamed = 151665;

// 0: a confident model (mean 0, deviation 2.5, a few tokens far above); 1: undecided (deviation 3,
// nothing stands out); 2: nearly flat (deviation 0.1), which no trained model gives.
std::vector<float> make_logits(std::int64_t shape) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal(0, shape == 0 ? 2.5F : shape == 1 ? 3.0F : 0.1F);
  std::vector<float> logits(kVocab);
  for (float& logit : logits) logit = normal(random);
  if (shape == 0) {
    for (int i = 0; i < 20; ++i) logits[random() % kNamed] = 25.0F - 0.7F * static_cast<float>(i);
  }
  return logits;
}

std::shared_ptr<const std::vector<bool>> named_ids() {
  auto samplable = std::make_shared<std::vector<bool>>(kVocab, false);
  std::fill(samplable->begin(), samplable->begin() + kNamed, true);
  return samplable;
}

void choose(benchmark::State& state, const Params& params) {
  const std::vector<float> logits = make_logits(state.range(0));
  std::vector<TokenId> history(1000);
  for (std::size_t i = 0; i < history.size(); ++i)
    history[i] = static_cast<TokenId>(i * 131 % kNamed);
  Chain chain(params, named_ids());
  Chain twin(params, named_ids());
  for (int i = 0; i < 10; ++i) {
    if (chain.choose(logits, history).id != twin.choose(logits, history).id)
      state.SkipWithError("not the same");
  }
  for (auto _ : state) benchmark::DoNotOptimize(chain.choose(logits, history));
  // The least there is to do: reading all logits once, from the cache that they fit into.
  constexpr std::int64_t kBytes = kVocab * sizeof(float);
  const auto& table = *r1::kernels::kernel_table(r1::kernels::best_isa());
  const double limit = r1::bench::read_bytes_per_s(table, kBytes);
  state.counters["of_reading"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kBytes / limit, benchmark::Counter::kIsRate);
}

Params greedy() { return {}; }

Params r1_default() {
  Params params;
  params.temperature = 0.6F;
  params.top_p = 0.95F;
  return params;
}

Params top_k() {
  Params params = r1_default();
  params.temperature = 0.7F;
  params.top_k = 20;
  params.top_p = 0.8F;
  params.repeat_penalty = 1.05F;
  return params;
}

Params min_p() {
  Params params;
  params.temperature = 1;
  params.min_p = 0.05F;
  return params;
}

Params plain() {
  Params params;
  params.temperature = 1;
  return params;
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("shape")->DenseRange(0, 2)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(choose, greedy, greedy())->Apply(shapes);
BENCHMARK_CAPTURE(choose, r1_default, r1_default())->Apply(shapes);
BENCHMARK_CAPTURE(choose, top_k, top_k())->Apply(shapes);
BENCHMARK_CAPTURE(choose, min_p, min_p())->Apply(shapes);
BENCHMARK_CAPTURE(choose, plain, plain())->Apply(shapes);

}  // namespace

BENCHMARK_MAIN();
