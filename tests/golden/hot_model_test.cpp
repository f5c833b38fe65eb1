// Case K1: products and sums that overflow half precision. Query and key biases of 400 in the slowest rotary pair
// make scores of 160,000 before scaling; FFN activations reach thousands, so that a block's sum passes 65,504.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support/forward_logits.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/reference_model.hpp"

namespace {

using namespace r1;
using kernels::WeightType;

constexpr std::int64_t kTokens = 40;

void check_hot(WeightType type) {
  const support::RandomModelSpec spec{
      .type = type, .tied = false, .hot_bias = 400, .ffn_scale = 60};
  const auto image = support::random_model(spec);
  const Model model = Model::load(image);
  const support::ReferenceModel oracle(gguf::Reader::from_memory(image, "hot"), true);
  const auto tokens = support::random_tokens(kTokens, 256, 11);
  const auto expected = oracle.logits(tokens);
  for (const auto isa : support::available_tiers()) {
    INFO(kernels::format_info(type).name << " on " << kernels::isa_name(isa));
    const auto got = support::forward_logits(model, tokens, {.isa = isa});
    double worst = 0;
    double range = 0;
    bool finite = true;
    for (std::size_t t = 0; t < got.size(); ++t) {
      const auto [low, high] = std::minmax_element(expected[t].begin(), expected[t].end());
      range = std::max(range, *high - *low);
      for (std::size_t i = 0; i < got[t].size(); ++i) {
        finite = finite && std::isfinite(got[t][i]);
        worst = std::max(worst, std::abs(expected[t][i] - static_cast<double>(got[t][i])));
      }
      CHECK(std::max_element(got[t].begin(), got[t].end()) - got[t].begin() ==
            std::max_element(expected[t].begin(), expected[t].end()) - expected[t].begin());
    }
    CHECK(finite);
    CHECK(worst <= 0.01 * range);
  }
}

}  // namespace

TEST_CASE("the hot model really overflows half precision") {
  const auto image = support::random_model({.tied = false, .hot_bias = 400, .ffn_scale = 60});
  const Model model = Model::load(image);
  float largest = 0;
  support::forward_logits(model, support::random_tokens(kTokens, 256, 11),
                          {.probe = [&](std::int64_t, std::span<const float> hidden) {
                             for (const float value : hidden) largest = std::max(largest, std::abs(value));
                           }});
  // The down projection averages 512 activations of either sign: hidden states of hundreds come from
  // activations of thousands.
  CHECK(largest > 500);
}

TEST_CASE("every weight type and tier computes the hot model right") {
  for (int type = 0; type < kernels::kWeightTypeCount; ++type) check_hot(static_cast<WeightType>(type));
}
