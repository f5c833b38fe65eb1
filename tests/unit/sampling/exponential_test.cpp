// The sampler's exponentials against libm.
#include "libr1/sampling/exponential.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using r1::sampling::exp_exact;
using r1::sampling::exp_sum_fast;

TEST_CASE("exp_exact is within 2 ulp of libm") {
  std::mt19937_64 random(1);
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = -std::ldexp(std::uniform_real_distribution<double>(0, 1)(random), i % 10);
    worst = std::max(worst, std::abs(exp_exact(x) - std::exp(x)) / std::exp(x));
  }
  CHECK(worst < 2 * std::numeric_limits<double>::epsilon());
  CHECK(exp_exact(0.0) == 1.0);
  CHECK(exp_exact(-0.0) == 1.0);
  CHECK(exp_exact(-699.9) == Approx(std::exp(-699.9)));
  CHECK(exp_exact(-701.0) == 0.0);
  CHECK(exp_exact(-1e300) == 0.0);
  CHECK(exp_exact(-std::numeric_limits<double>::infinity()) == 0.0);
}

TEST_CASE("exp_exact_all gives the bits of exp_exact, whatever the count") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-700, 0);
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<double> x(count);
    for (double& value : x) value = uniform(random) / static_cast<double>(1 + random() % 1000);
    if (count > 2) x[count - 1] = -700;
    if (count > 2) x[1] = -0.0;
    std::vector<double> expected;
    for (const double value : x) expected.push_back(exp_exact(value));
    r1::sampling::exp_exact_all(x.data(), count);
    CHECK(x == expected);
  }
}

TEST_CASE("exp_sum_fast stays within its bound") {
  std::mt19937_64 random(2);
  for (int round = 0; round < 400; ++round) {
    const float spread = std::ldexp(1.0F, round % 12 - 4);
    const float temperature = std::ldexp(1.3F, round % 9 - 6);
    const float max = static_cast<float>(round % 7 - 3) * 9.7F;
    std::vector<float> x(4096, max);
    for (std::size_t i = 1; i < x.size(); ++i) {
      // Half of the rounds put everything at one depth, where rounding errors add up instead of
      // cancelling.
      x[i] = round % 2 == 0 ? max - spread
                            : max - std::uniform_real_distribution<float>(0, spread)(random);
    }
    if (round % 5 == 0) x[17] = -std::numeric_limits<float>::infinity();
    for (const float below : {max + 1, max, max - spread / 2}) {
      double expected = 0;
      double slack = 0;
      for (const float value : x) {
        if (!(value < below)) continue;
        const double term = std::exp((double{value} - double{max}) / double{temperature});
        expected += term;
        if (term < std::exp(-40.0)) slack += std::exp(-40.0);
      }
      const double got = exp_sum_fast(x, below, max, 1 / temperature);
      INFO("spread " << spread << " temperature " << temperature << " below " << below);
      CHECK(std::abs(got - expected) <= r1::sampling::kExpSumFastError * expected + slack);
    }
  }
}

TEST_CASE("exp_sum_fast takes the extremes") {
  std::vector<float> x(16, std::numeric_limits<float>::lowest());
  x[3] = std::numeric_limits<float>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(exp_sum_fast(x, kInfinity, x[3], 1e5F) == Approx(1.0));
  CHECK(exp_sum_fast(x, x[3], x[3], 1e5F) < 1e-30);
  CHECK(exp_sum_fast({}, 0, 0, 1) == 0.0);
}
