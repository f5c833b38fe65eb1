// Speed of encoding on Qwen2.5's vocabulary (tests/data/tokenizer/qwen2-vocab.gguf): natural text,
// and runs that are one word each. Each case checks that the ids decode to the text.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libr1/gguf/reader.hpp"
#include "libr1/text/tokenizer.hpp"

namespace {

/// Beside this source file, whatever the working directory.
std::string vocabulary_path() {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path();
  return (root / "tests/data/tokenizer/qwen2-vocab.gguf").string();
}

const r1::text::Tokenizer& tokenizer() {
  static const auto made =
      r1::text::Tokenizer::from_gguf(r1::gguf::Reader::open(vocabulary_path()), nullptr);
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
  std::vector<r1::TokenId> ids;
  for (auto _ : state) {
    ids = tokenizer().encode(std::span<const r1::PromptPiece>(&piece, 1));
    benchmark::DoNotOptimize(ids.data());
  }
  std::string decoded;
  for (const r1::TokenId id : ids) decoded += tokenizer().bytes(id);
  if (decoded != piece.text) state.SkipWithError("ids do not decode to the text");
  state.SetBytesProcessed(static_cast<std::int64_t>(piece.text.size()) * state.iterations());
  state.counters["tokens"] = static_cast<double>(ids.size());
}

/// What a load pays for the vocabulary, file reading included.
void load(benchmark::State& state) {
  const std::string path = vocabulary_path();
  for (auto _ : state) {
    const auto made = r1::text::Tokenizer::from_gguf(r1::gguf::Reader::open(path), nullptr);
    if (made->vocab_size() != 151936) state.SkipWithError("rows are missing");
  }
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
