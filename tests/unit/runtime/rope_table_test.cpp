// Rotary frequencies and tables against the published numbers of case L6 and against double
// arithmetic.
#include "libr1/runtime/rope_table.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace r1;

namespace {

model::Config yarn_config() {
  model::Config config;
  config.head_dim = 128;
  config.rope_base = 1e6;
  config.rope_scaling.kind = model::RopeScaling::Kind::yarn;
  config.rope_scaling.factor = 4;
  config.rope_scaling.original_context = 32768;
  return config;
}

}  // namespace

TEST_CASE("YaRN frequencies are those of the paper's formula") {
  const auto frequencies = runtime::rope_frequencies(yarn_config());
  const std::pair<std::size_t, double> expected[] = {
      {0, 1.0},          {23, 6.978306e-3}, {24, 5.375321e-3}, {31, 8.029597e-4},
      {39, 6.490394e-5}, {40, 4.445699e-5}, {63, 3.102344e-7}};
  for (const auto& [pair, inverse] : expected) {
    CHECK(frequencies.inverse[pair] == Approx(inverse).epsilon(1e-6));
  }
  CHECK(frequencies.magnitude == Approx(1.138629).epsilon(1e-6));
}

TEST_CASE("without scaling frequencies fall geometrically") {
  model::Config config;
  config.head_dim = 64;
  config.rope_base = 10000;
  const auto frequencies = runtime::rope_frequencies(config);
  CHECK(frequencies.magnitude == 1.0);
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(frequencies.inverse[i] == Approx(std::pow(10000.0, -static_cast<double>(i) / 32)));
  }
}

TEST_CASE("linear scaling divides every frequency") {
  model::Config config;
  config.head_dim = 64;
  config.rope_scaling = {.kind = model::RopeScaling::Kind::linear, .factor = 8};
  const auto scaled = runtime::rope_frequencies(config);
  config.rope_scaling = {};
  const auto plain = runtime::rope_frequencies(config);
  CHECK(scaled.magnitude == 1.0);
  for (std::size_t i = 0; i < 32; ++i) CHECK(scaled.inverse[i] == Approx(plain.inverse[i] / 8));
}

TEST_CASE("tables are accurate at large positions, and columns repeat the rows") {
  auto frequencies = runtime::rope_frequencies(yarn_config());
  runtime::RopeTable table(frequencies, 100'003, {0, 40});
  table.fill(10);
  table.fill(100'003);
  for (const std::int64_t position : {0, 9, 10, 16, 40'000, 100'002}) {
    for (std::size_t pair = 0; pair < 64; ++pair) {
      const long double angle =
          static_cast<long double>(position) * static_cast<long double>(frequencies.inverse[pair]);
      CHECK(std::abs(table.cos(position)[pair] -
                     static_cast<double>(std::cos(angle)) * frequencies.magnitude) < 2e-7);
      CHECK(std::abs(table.sin(position)[pair] -
                     static_cast<double>(std::sin(angle)) * frequencies.magnitude) < 2e-7);
    }
    CHECK(table.cos_column(0)[position] == table.cos(position)[0]);
    CHECK(table.sin_column(1)[position] == table.sin(position)[40]);
  }
}
