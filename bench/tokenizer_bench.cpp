// Speed of encoding on Qwen2.5's vocabulary (tests/data/tokenizer/qwen2-vocab.gguf): natural text,
// and runs that are one word each; beside what only reading as many bytes from memory takes. Each
// case checks that the ids decode to the text.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/limits.hpp"
#include "kernels/api/table.hpp"
#include "libr1/gguf/reader.hpp"
#include "libr1/text/tokenizer.hpp"

namespace {

constexpr const char* kVocabulary = R1_SOURCE_DIR "/tests/data/tokenizer/qwen2-vocab.gguf";

/// What `bytes` a run are of the speed at which memory is read.
benchmark::Counter of_reading(const benchmark::State& state, double bytes) {
  const auto& table = *r1::kernels::kernel_table(r1::kernels::best_isa());
  const double limit = r1::bench::read_bytes_per_s(table, r1::bench::kMemoryBytes);
  return {static_cast<double>(state.iterations()) * bytes / limit, benchmark::Counter::kIsRate};
}

const r1::text::Tokenizer& tokenizer() {
  static const auto made =
      r1::text::Tokenizer::from_gguf(r1::gguf::Reader::open(kVocabulary), nullptr);
  return *made;
}

std::string repeated(std::string_view unit, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

/// Encodes `unit` repeated to at least range(0) bytes.
void encode(benchmark::State& state, std::string_view unit) {
  const r1::PromptPiece piece{repeated(unit, static_cast<std::size_t>(state.range(0))), false};
  const r1::text::Tokenizer& encoder = tokenizer();
  std::vector<r1::TokenId> ids;
  for (auto _ : state) {
    ids = encoder.encode(std::span<const r1::PromptPiece>(&piece, 1));
    benchmark::DoNotOptimize(ids.data());
  }
  std::string decoded;
  for (const r1::TokenId id : ids) decoded += encoder.bytes(id);
  if (decoded != piece.text) state.SkipWithError("ids do not decode to the text");
  state.SetBytesProcessed(static_cast<std::int64_t>(piece.text.size()) * state.iterations());
  state.counters["tokens"] = static_cast<double>(ids.size());
  state.counters["of_reading"] = of_reading(state, static_cast<double>(piece.text.size()));
}

/// What a load pays for the vocabulary, file reading included.
void load(benchmark::State& state) {
  for (auto _ : state) {
    const auto made = r1::text::Tokenizer::from_gguf(r1::gguf::Reader::open(kVocabulary), nullptr);
    if (made->vocab_size() != 151936) state.SkipWithError("rows are missing");
  }
  state.counters["of_reading"] =
      of_reading(state, static_cast<double>(std::filesystem::file_size(kVocabulary)));
}

constexpr std::int64_t kPromptBytes = 1 << 12;
constexpr std::int64_t kLongBytes = 1 << 20;

BENCHMARK_CAPTURE(encode, english,
                  "The quick brown fox doesn't jump over 13 lazy dogs; it sleeps.\n")
    ->Arg(kPromptBytes)
    ->Arg(kLongBytes);
BENCHMARK_CAPTURE(encode, chinese, "鸡兔同笼，共35个头，94只脚，问鸡兔各几只？\n")
    ->Arg(kPromptBytes)
    ->Arg(kLongBytes);
BENCHMARK_CAPTURE(encode, code, "  for (int i = 0; i < n; ++i) {\n\t\tsum += x[i] * 2;\n  }\n")
    ->Arg(kPromptBytes)
    ->Arg(kLongBytes);
BENCHMARK_CAPTURE(encode, one_word, "a")->Arg(kPromptBytes)->Arg(kLongBytes);
BENCHMARK_CAPTURE(encode, blanks, " ")->Arg(kPromptBytes)->Arg(kLongBytes);
BENCHMARK_CAPTURE(encode, cjk_run, "中国")->Arg(kPromptBytes)->Arg(kLongBytes);
BENCHMARK(load)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
