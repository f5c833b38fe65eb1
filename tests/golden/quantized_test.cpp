// Quantized files: what int8 activations and a 16-bit KV cache cost, as KL divergence in nats to a
// double-precision forward pass over the very same dequantized weights.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/support/forward_logits.hpp"
#include "tests/support/reference_model.hpp"
#include "tests/support/tiny_r1.hpp"

namespace {

using namespace r1;

void check_type(const std::string& name, const std::string& path) {
  const support::ReferenceModel oracle(gguf::Reader::open(path));
  const Model model = Model::load(path);
  std::vector<std::vector<TokenId>> texts;
  std::vector<support::ReferenceModel::Rows> expected;
  for (const auto& one : support::reference_cases()) {
    texts.push_back(one.tokens);
    texts.back().insert(texts.back().end(), one.greedy.begin(), one.greedy.end());
    expected.push_back(oracle.logits(texts.back()));
  }
  for (const auto isa : support::available_tiers()) {
    std::vector<double> divergences;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto logits = support::forward_logits(model, texts[i], {.isa = isa, .threads = 2});
      for (std::size_t t = 0; t < logits.size(); ++t) {
        divergences.push_back(support::kl_divergence(expected[i][t], logits[t]));
      }
    }
    std::sort(divergences.begin(), divergences.end());
    double mean = 0;
    for (const double divergence : divergences) mean += divergence;
    mean /= static_cast<double>(divergences.size());
    const double p99 = divergences[divergences.size() * 99 / 100];
    std::cout << "KL of " << name << " on " << kernels::isa_name(isa) << ": mean " << mean
              << ", p99 " << p99 << " nats over " << divergences.size() << " tokens\n";
    INFO(name << " on " << kernels::isa_name(isa));
    CHECK(mean <= 3e-4);
    CHECK(p99 <= 4e-3);
  }
}

}  // namespace

TEST_CASE("KL divergence to exact arithmetic over the same weights is small") {
  check_type("Q8_0", support::embedded_path());
  for (const char* type : {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M",
                           "Q6_K", "IQ4_NL", "IQ4_XS"}) {
    const std::string path = support::shared_path(type);
    if (path.empty()) {
      WARN("skipped " << type << ": no shared data");
    } else {
      check_type(type, path);
    }
  }
}
