// Passes over logits in vectors, against loops over single values.
#include "libr1/sampling/lanes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

using r1::sampling::any_at_least;
using r1::sampling::Maximum;
using r1::sampling::maximum_of;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_values(std::mt19937& random, std::size_t count) {
  std::normal_distribution<float> normal(0, 10);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

}  // namespace

TEST_CASE("maximum_of finds the largest wherever it is") {
  std::mt19937 random(1);
  for (const std::size_t count : {16u, 32u, 48u, 256u}) {
    for (std::size_t at = 0; at < count; ++at) {
      std::vector<float> values = random_values(random, count);
      values[at] = 100;
      values[(at + 7) % count] = -kInfinity;
      const Maximum maximum = maximum_of(values.data(), count);
      CHECK(maximum.value == 100);
      CHECK(maximum.usable);
    }
  }
  const std::vector<float> none(32, -kInfinity);
  CHECK(maximum_of(none.data(), 32).value == -kInfinity);
  CHECK(maximum_of(none.data(), 32).usable);
  const std::vector<float> largest(16, std::numeric_limits<float>::max());
  CHECK(maximum_of(largest.data(), 16).usable);
}

TEST_CASE("maximum_of tells of NaN and +Inf wherever they are") {
  std::mt19937 random(2);
  for (const float bad : {kNan, -kNan, kInfinity}) {
    for (std::size_t at = 0; at < 64; ++at) {
      std::vector<float> values = random_values(random, 64);
      values[at] = bad;
      CHECK_FALSE(maximum_of(values.data(), 64).usable);
    }
  }
}

TEST_CASE("any_at_least looks at all 16") {
  for (std::size_t at = 0; at < 16; ++at) {
    std::vector<float> values(16, 1);
    CHECK_FALSE(any_at_least(values.data(), 2));
    values[at] = 2;
    CHECK(any_at_least(values.data(), 2));
    values[at] = -kInfinity;
    CHECK_FALSE(any_at_least(values.data(), 2));
  }
}
