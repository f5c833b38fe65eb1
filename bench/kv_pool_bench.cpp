// The KV pool's bookkeeping, with the shape of DeepSeek-R1-Distill-Qwen-1.5B: what a prompt of
// 2,048 tokens costs that is cached, and what computing it adds to the forward pass. Each case
// checks what was found. The copy of a page is set against reading as many bytes from the cache.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "bench/limits.hpp"
#include "kernels/api/table.hpp"
#include "libr1/runtime/kv_sequence.hpp"

namespace {

using r1::TokenId;
using r1::runtime::KvLayout;
using r1::runtime::KvPool;
using r1::runtime::KvSequence;

const KvLayout kShape{r1::kernels::KvType::f16, 28, 2, 128};
constexpr std::int64_t kTokens = 2048;
constexpr std::int64_t kPages = 4 * kTokens / r1::kernels::kPageTokens;

std::vector<TokenId> prompt() {
  std::vector<TokenId> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

/// A prompt that was computed before: found and given back. tokens/s.
void attach(benchmark::State& state) {
  KvPool pool(kShape, kPages);
  const std::vector<TokenId> tokens = prompt();
  KvSequence first(pool);
  if (!first.reserve(kTokens)) state.SkipWithError("no memory");
  first.computed(tokens);
  for (auto _ : state) {
    KvSequence sequence(pool);
    if (sequence.attach(tokens) != kTokens - 1) state.SkipWithError("not found");
  }
  state.SetItemsProcessed(state.iterations() * kTokens);
}

/// Pages for a new prompt, published in chunks of 512 and dropped for good. tokens/s.
void publish(benchmark::State& state) {
  KvPool pool(kShape, kPages);
  const std::vector<TokenId> tokens = prompt();
  for (auto _ : state) {
    KvSequence sequence(pool);
    for (std::int64_t done = 0; done < kTokens; done += 512) {
      if (!sequence.reserve(done + 512)) state.SkipWithError("no memory");
      sequence.computed(std::span(tokens).subspan(static_cast<std::size_t>(done), 512));
    }
    sequence.forget();
  }
  state.SetItemsProcessed(state.iterations() * kTokens);
}

/// A token of decode: room for it, and telling the pool.
void decode(benchmark::State& state) {
  KvPool pool(kShape, kPages);
  const std::vector<TokenId> tokens = prompt();
  KvSequence sequence(pool);
  std::int64_t length = 0;
  for (auto _ : state) {
    if (length == kTokens) {
      length = 0;
      sequence.truncate(0);
    }
    if (!sequence.reserve(length + 1)) state.SkipWithError("no memory");
    sequence.computed(std::span(tokens).subspan(static_cast<std::size_t>(length++), 1));
  }
  state.SetItemsProcessed(state.iterations());
}

/// The copy that a fork takes of its last page.
void copy(benchmark::State& state) {
  KvPool pool(kShape, kPages);
  const std::vector<TokenId> tokens = prompt();
  KvSequence parent(pool);
  if (!parent.reserve(8)) state.SkipWithError("no memory");
  parent.computed(std::span(tokens).first(8));
  for (auto _ : state) {
    KvSequence fork = parent.fork();
    if (!fork.reserve(9) || fork.page_of(8) == parent.page_of(8)) state.SkipWithError("no copy");
  }
  const double limit = r1::bench::read_bytes_per_s(
      *r1::kernels::kernel_table(r1::kernels::best_isa()), kShape.page_bytes());
  state.counters["of_reading"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kShape.page_bytes()) / limit,
                         benchmark::Counter::kIsRate);
}

BENCHMARK(attach)->Unit(benchmark::kMicrosecond);
BENCHMARK(publish)->Unit(benchmark::kMicrosecond);
BENCHMARK(decode)->Unit(benchmark::kNanosecond);
BENCHMARK(copy)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
