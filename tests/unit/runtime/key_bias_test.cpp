// Which key biases are kept apart, and that both parts together are the whole.
#include "libr1/runtime/key_bias.hpp"

#include <catch2/catch.hpp>

using namespace r1;

namespace {

model::Config config() {
  model::Config config;
  config.kv_heads = 2;
  config.head_dim = 64;
  return config;
}

model::Weights weights(const std::vector<float>& k_bias) {
  model::Weights weights;
  weights.layers.emplace_back();
  weights.layers[0].k_bias = k_bias;
  return weights;
}

}  // namespace

TEST_CASE("small biases stay in the cache") {
  const auto split = runtime::split_key_bias(weights(std::vector<float>(128, 7.9F)), config(),
                                             kernels::KvType::f16);
  CHECK(split.terms_max == 0);
  CHECK(split.layers[0].kept == std::vector<float>(128, 7.9F));
}

TEST_CASE("a large bias takes its whole pair out, by head") {
  std::vector<float> bias(128, 1.0F);
  bias[5] = 900;
  bias[64 + 40] = -30;
  const auto split = runtime::split_key_bias(weights(bias), config(), kernels::KvType::f16);
  REQUIRE(split.layers[0].apart[0].size() == 1);
  REQUIRE(split.layers[0].apart[1].size() == 1);
  CHECK(split.layers[0].apart[0][0].pair == 5);
  CHECK(split.layers[0].apart[0][0].first == 900);
  CHECK(split.layers[0].apart[0][0].second == 1);
  CHECK(split.layers[0].apart[1][0].pair == 8);
  CHECK(split.layers[0].apart[1][0].first == 1);
  CHECK(split.layers[0].apart[1][0].second == -30);
  CHECK(split.column_pairs == std::vector<std::int64_t>{5, 8});
  CHECK(split.terms_max == 2);
  for (const std::size_t channel : {5U, 37U, 64U + 8U, 64U + 40U}) {
    CHECK(split.layers[0].kept[channel] == 0);
  }
}

TEST_CASE("at most eight pairs a head, the largest") {
  std::vector<float> bias(128, 0.0F);
  for (std::size_t i = 0; i < 20; ++i) bias[i] = 100.0F + static_cast<float>(i);
  const auto split = runtime::split_key_bias(weights(bias), config(), kernels::KvType::f16);
  REQUIRE(split.layers[0].apart[0].size() == 8);
  CHECK(split.layers[0].apart[0][0].pair == 19);
  CHECK(split.layers[0].apart[0][7].pair == 12);
  CHECK(split.layers[0].kept[11] == 111);
}

TEST_CASE("a float32 cache needs nothing apart") {
  const auto split = runtime::split_key_bias(weights(std::vector<float>(128, 900.0F)), config(),
                                             kernels::KvType::f32);
  CHECK(split.terms_max == 0);
}

TEST_CASE("an int8 cache keeps the same pairs apart as a 16-bit one") {
  std::vector<float> bias(128, 7.9F);
  bias[5] = 900;
  bias[64 + 40] = -30;
  const auto f16 = runtime::split_key_bias(weights(bias), config(), kernels::KvType::f16);
  const auto q8 = runtime::split_key_bias(weights(bias), config(), kernels::KvType::q8);
  CHECK(q8.terms_max == 2);
  CHECK(q8.layers[0].kept == f16.layers[0].kept);
  CHECK(q8.column_pairs == f16.column_pairs);
}
