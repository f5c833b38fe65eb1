// Case K1: products and sums that overflow half precision. Query and key biases of 400 in the
// slowest rotary pair make scores of 160,000 before scaling; FFN activations reach thousands, so
// that a block's sum passes 65,504.
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

support::RandomModelSpec hot_spec(WeightType type) {
  return {.type = type, .tied = false, .hot_bias = 400, .ffn_scale = 60};
}

template <class Row>
std::int64_t best(const Row& row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

// With int8 activations a difference in the last bit can flip a code, and what follows amplifies
// that: the oracle gets the engine's own input of every stage, so that both work on the same codes.
void check_hot(WeightType type, kernels::IsaTier isa) {
  const auto image = support::random_model(hot_spec(type));
  const Model model = Model::load(image);
  const support::ReferenceModel oracle(gguf::Reader::from_memory(image, "hot"), true);
  const auto tokens = support::random_tokens(kTokens, 256, 11);
  for (const auto kv_type : {kernels::KvType::f32, kernels::KvType::f16}) {
    const auto trace = support::forward_trace(model, tokens, {.isa = isa, .kv_type = kv_type});
    // Queries of 400 turn the rounding of a 16-bit key into a score error of up to 400 * 2^-12 / 8,
    // that is 1.2 % of a weight: the range holds, but the bound of 1 % is for the float32 cache.
    if (kv_type == kernels::KvType::f32) CHECK(support::worst_stage_error(oracle, trace) <= 0.01);
    const auto expected = oracle.output(trace.output);
    CHECK(support::relative_error(expected, trace.logits) <= 0.01);
    for (std::size_t t = 0; t < expected.size(); ++t) {
      CHECK(best(trace.logits[t]) == best(expected[t]));
    }
  }
}

}  // namespace

TEST_CASE("the hot model really overflows half precision") {
  const Model model = Model::load(support::random_model(hot_spec(WeightType::f32)));
  const auto trace = support::forward_trace(model, support::random_tokens(kTokens, 256, 11));
  double block_sum = 0;
  for (const auto& row : trace.layers[0].activated) {
    for (std::size_t block = 0; block < row.size(); block += 32) {
      double sum = 0;
      for (std::size_t i = 0; i < 32; ++i) sum += std::abs(row[block + i]);
      block_sum = std::max(block_sum, sum);
    }
  }
  CHECK(block_sum > 65504);
}

TEST_CASE("float types compute the whole hot model within 1 %") {
  for (const auto type : {WeightType::f32, WeightType::f16, WeightType::bf16}) {
    const auto image = support::random_model(hot_spec(type));
    const Model model = Model::load(image);
    const auto tokens = support::random_tokens(kTokens, 256, 11);
    const auto expected =
        support::ReferenceModel(gguf::Reader::from_memory(image, "hot")).logits(tokens);
    for (const auto isa : support::available_tiers()) {
      INFO(kernels::format_info(type).name << " on " << kernels::isa_name(isa));
      const auto logits = support::forward_logits(model, tokens, {.isa = isa});
      CHECK(support::relative_error(expected, logits) <= 0.01);
      for (std::size_t t = 0; t < expected.size(); ++t) {
        CHECK(best(logits[t]) == best(expected[t]));
      }
    }
  }
}

TEST_CASE("every weight type and tier computes the hot model's layers within 1 %") {
  for (int type = 0; type < kernels::kWeightTypeCount; ++type) {
    for (const auto isa : support::available_tiers()) {
      INFO(kernels::format_info(static_cast<WeightType>(type)).name << " on "
                                                                    << kernels::isa_name(isa));
      check_hot(static_cast<WeightType>(type), isa);
    }
  }
}
