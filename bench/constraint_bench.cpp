// What a JSON schema costs for each token, over Qwen2.5's vocabulary
// (tests/data/tokenizer/qwen2-vocab.gguf): the mask and taking the chosen token, on random walks
// through the five schemas of tests/data/schemas; and what is paid once, for a vocabulary and for a
// schema. Each walk checks that its tokens were taken.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "libr1/gguf/reader.hpp"
#include "libr1/sampling/constraint.hpp"
#include "libr1/text/tokenizer.hpp"

namespace {

using r1::TokenId;
using r1::sampling::Constraint;
using r1::sampling::ConstraintState;
using r1::sampling::TokenTrie;

constexpr const char* kVocabulary = R1_SOURCE_DIR "/tests/data/tokenizer/qwen2-vocab.gguf";
constexpr int kTokensMax = 400;  // of one walk

const r1::text::Tokenizer& tokenizer() {
  static const auto made =
      r1::text::Tokenizer::from_gguf(r1::gguf::Reader::open(kVocabulary), nullptr);
  return *made;
}

std::shared_ptr<const TokenTrie> tokens() {
  static const auto made = TokenTrie::from_tokenizer(tokenizer());
  return made;
}

std::string schema_text(const std::string& name) {
  std::ifstream file(std::string(R1_SOURCE_DIR "/tests/data/schemas/") + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The end of a string or a bracket half of the time it is there: answers have short strings.
TokenId pick(std::mt19937_64& random, std::span<const std::uint64_t> mask) {
  static const TokenId kClosing[] = {tokenizer().find("\""), tokenizer().find("}"),
                                     tokenizer().find("]")};
  const auto is_allowed = [&](TokenId id) {
    return ((mask[static_cast<std::size_t>(id) / 64] >> (id % 64)) & 1) != 0;
  };
  if (random() % 4 == 0) {
    for (const TokenId id : kClosing) {
      if (is_allowed(id)) return id;
    }
  }
  const auto rows = static_cast<TokenId>(tokens()->size());
  TokenId id = static_cast<TokenId>(random() % static_cast<std::uint64_t>(rows));
  while (!is_allowed(id)) id = id + 1 == rows ? 0 : id + 1;
  return id;
}

void schema(benchmark::State& state, const std::string& name) {
  using Clock = std::chrono::steady_clock;
  const auto constraint = Constraint::from_schema(tokens(), schema_text(name));
  std::mt19937_64 random(1);
  std::int64_t taken = 0;
  double slowest = 0;
  double total = 0;
  for (auto _ : state) {
    ConstraintState walk(constraint);
    double spent = 0;
    for (int i = 0; i < kTokensMax && !walk.must_end(); ++i) {
      const auto begin = Clock::now();
      const auto mask = walk.allowed();
      const auto middle = Clock::now();
      const TokenId id = pick(random, mask);
      const auto chosen = Clock::now();
      if (!walk.accept(id)) state.SkipWithError("not taken");
      const std::chrono::duration<double> time = (middle - begin) + (Clock::now() - chosen);
      spent += time.count();
      slowest = std::max(slowest, time.count());
      ++taken;
      if (tokens()->is_end(id)) break;
    }
    total += spent;
    state.SetIterationTime(spent);
  }
  state.counters["us_per_token"] = total * 1e6 / static_cast<double>(taken);
  state.counters["us_slowest"] = slowest * 1e6;
}

void compile(benchmark::State& state, const std::string& name) {
  const std::string text = schema_text(name);
  for (auto _ : state) benchmark::DoNotOptimize(Constraint::from_schema(tokens(), text));
}

void vocabulary(benchmark::State& state) {
  for (auto _ : state) {
    if (TokenTrie::from_tokenizer(tokenizer())->size() != 151936) {
      state.SkipWithError("rows are missing");
    }
  }
}

BENCHMARK_CAPTURE(schema, contact, "contact")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schema, invoice, "invoice")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schema, tree, "tree")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schema, tool_call, "tool_call")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schema, quiz, "quiz")->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile, invoice, "invoice")->Unit(benchmark::kMicrosecond);
BENCHMARK(vocabulary)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
