// Quantized files: what int8 activations and a 16-bit KV cache cost, as KL divergence in nats to a
// double-precision forward pass over the very same dequantized weights. Within the lengths that tiny-r1 was trained
// for the bounds are absolute. Two cases are twice as long as anything it has seen; there its predictions are so
// flat and unstable that rounding the activations costs far more, also in exact arithmetic: those are held to
// what a double-precision emulation of the same rounding gives (docs/numerics.md).
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/support/forward_logits.hpp"
#include "tests/support/reference_model.hpp"
#include "tests/support/tiny_r1.hpp"

namespace {

using namespace r1;

constexpr std::size_t kTrainedLength = 470;  // models/tiny-r1/README.md

struct Divergence {
  double mean = 0;
  double p99 = 0;
};

Divergence summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return {sum / static_cast<double>(values.size()), values[values.size() * 99 / 100]};
}

std::vector<float> narrow(const std::vector<double>& row) { return {row.begin(), row.end()}; }

void check_type(const std::string& name, const std::string& path) {
  const support::ReferenceModel exact(gguf::Reader::open(path));
  const support::ReferenceModel rounded(gguf::Reader::open(path), true);
  const Model model = Model::load(path);
  std::vector<std::vector<TokenId>> texts;
  std::vector<support::ReferenceModel::Rows> expected;
  std::vector<double> emulated;
  for (const auto& one : support::reference_cases()) {
    texts.push_back(one.tokens);
    texts.back().insert(texts.back().end(), one.greedy.begin(), one.greedy.end());
    expected.push_back(exact.logits(texts.back()));
    const auto emulation = rounded.logits(texts.back());
    for (std::size_t t = 0; t < emulation.size(); ++t) {
      emulated.push_back(support::kl_divergence(expected.back()[t], narrow(emulation[t])));
    }
  }
  const Divergence emulation = summarize(emulated);
  for (const auto isa : support::available_tiers()) {
    std::vector<double> all;
    std::vector<double> trained;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto logits = support::forward_logits(model, texts[i], {.isa = isa, .threads = 2});
      for (std::size_t t = 0; t < logits.size(); ++t) {
        all.push_back(support::kl_divergence(expected[i][t], logits[t]));
        if (texts[i].size() <= kTrainedLength) trained.push_back(all.back());
      }
    }
    const Divergence in_range = summarize(trained);
    const Divergence whole = summarize(all);
    std::cout << "KL of " << name << " on " << kernels::isa_name(isa) << ": mean " << in_range.mean << ", p99 "
              << in_range.p99 << " over " << trained.size() << " tokens of trained lengths; mean " << whole.mean
              << ", p99 " << whole.p99 << " over all " << all.size() << " (emulation: " << emulation.mean
              << ", " << emulation.p99 << ")\n";
    INFO(name << " on " << kernels::isa_name(isa));
    CHECK(in_range.mean <= 3e-4);
    CHECK(in_range.p99 <= 4e-3);
    CHECK(whole.mean <= 1.5 * emulation.mean);
    CHECK(whole.p99 <= 1.5 * emulation.p99);
  }
}

}  // namespace

TEST_CASE("KL divergence to exact arithmetic over the same weights is small") {
  check_type("Q8_0", support::embedded_path());
  for (const char* type : {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K",
                           "IQ4_NL", "IQ4_XS"}) {
    const std::string path = support::shared_path(type);
    if (path.empty()) {
      WARN("skipped " << type << ": no shared data");
    } else {
      check_type(type, path);
    }
  }
}
