// Element-wise float kernels on every tier against the double-precision oracle,
// with all vector remainders, in-place use, extreme values and unreadable memory right behind every
// operand.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "kernels/reference/float_reference.hpp"
#include "tests/unit/kernels/float_test_support.hpp"

namespace r1::kernels {
namespace {

using test::available_tiers;
using test::GuardedBuffer;
using test::random_floats;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("rms_norm: error below 1e-6 and no overflow") {
  for (const auto& [name, kernels] : available_tiers()) {
    for (const std::size_t k : {1u, 3u, 4u, 7u, 15u, 16u, 17u, 31u, 33u, 896u, 1536u, 8960u}) {
      for (const float size : {1e-6f, 1.0f, 3e4f, 1e5f, 1e25f}) {
        INFO(name << " k " << k << " size " << size);
        const std::vector<float> x = random_floats(k, 1, size);
        const std::vector<float> w = random_floats(k, 2);
        const std::vector<double> expected = reference::rms_norm(x, w, 1e-6f);
        const GuardedBuffer<float> guarded_w(w);
        GuardedBuffer<float> y(x);
        kernels->rms_norm(y.data(), guarded_w.data(), static_cast<std::int64_t>(k), 1e-6f,
                          y.data());
        double worst = 0.0;
        for (std::size_t i = 0; i < k; ++i) {
          worst = std::max(worst, std::fabs(y.data()[i] / expected[i] - 1.0));
        }
        CHECK(worst < 1e-6);
      }
    }
  }
}

TEST_CASE("rms_norm: zeros stay zeros, NaN is not hidden") {
  for (const auto& [name, kernels] : available_tiers()) {
    INFO(name);
    std::vector<float> x(40, 0.0f);
    const std::vector<float> w(40, 1.0f);
    std::vector<float> y(40, kNan);
    kernels->rms_norm(x.data(), w.data(), 40, 1e-6f, y.data());
    CHECK(y == x);
    x[37] = kNan;
    kernels->rms_norm(x.data(), w.data(), 40, 1e-6f, y.data());
    CHECK_FALSE(kernels->all_finite(y.data(), 40));
  }
}

TEST_CASE("silu_mul: a few ulp everywhere, never NaN for finite input") {
  std::vector<float> gate = random_floats(4096, 3, 8.0f);
  for (float x = -87.25f; x < 90.0f; x += 0.03125f) gate.push_back(x);
  for (const float x : {0.0f, -0.0f, 1e-30f, -1e-30f, 1e30f, 88.8f, 3e38f}) gate.push_back(x);
  const std::vector<float> up = random_floats(gate.size(), 4);
  for (const auto& [name, kernels] : available_tiers()) {
    INFO(name);
    GuardedBuffer<float> y(gate);
    const GuardedBuffer<float> guarded_up(up);
    kernels->silu_mul(y.data(), guarded_up.data(), static_cast<std::int64_t>(gate.size()),
                      y.data());
    double worst = 0.0;
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const double expected = reference::silu_mul(gate[i], up[i]);
      const double got = y.data()[i];
      if (std::fabs(expected) > std::numeric_limits<float>::max()) {
        CHECK(got == (expected > 0 ? kInfinity : -kInfinity));
      } else if (std::fabs(expected) < std::numeric_limits<float>::min()) {
        CHECK(std::fabs(got - expected) < std::numeric_limits<float>::min());
      } else {
        worst = std::max(worst, std::fabs(got / expected - 1.0));
      }
    }
    // exp: 2 ulp; sum, quotient and two products: half an ulp each.
    CHECK(worst < 4 * std::numeric_limits<float>::epsilon());
  }
}

TEST_CASE("silu_mul: far negative gates give zero, infinities are honest") {
  const std::vector<float> gate = {-1e30f, -100.0f, -88.0f, -3e38f, 1e30f, 3e38f, kNan, 1.0f};
  const std::vector<float> up = {1e8f, 2.0f, 1.0f, 3e38f, 1e30f, 0.5f, 1.0f, kNan};
  for (const auto& [name, kernels] : available_tiers()) {
    INFO(name);
    std::vector<float> y = up;
    kernels->silu_mul(gate.data(), up.data(), 8, y.data());
    CHECK(y[0] == 0.0f);
    CHECK(std::fabs(y[1]) < 1e-36f);
    CHECK(std::fabs(y[2]) < 1e-36f);
    CHECK(y[3] == 0.0f);
    CHECK(y[4] == kInfinity);
    CHECK(y[5] == 1.5e38f);
    CHECK(std::isnan(y[6]));
    CHECK(std::isnan(y[7]));
  }
}

TEST_CASE("silu_mul: an element's bits do not depend on the length") {
  const std::vector<float> gate = random_floats(64, 5, 4.0f);
  const std::vector<float> up = random_floats(64, 6);
  for (const auto& [name, kernels] : available_tiers()) {
    std::vector<float> whole(64);
    kernels->silu_mul(gate.data(), up.data(), 64, whole.data());
    for (std::int64_t k = 1; k < 64; ++k) {
      INFO(name << " k " << k);
      std::vector<float> part(64, -7.0f);
      kernels->silu_mul(gate.data(), up.data(), k, part.data());
      CHECK(std::equal(part.begin(), part.begin() + k, whole.begin()));
      CHECK(part[static_cast<std::size_t>(k)] == -7.0f);
    }
  }
}

TEST_CASE("rope: NEOX pairs against double") {
  for (const auto& [name, kernels] : available_tiers()) {
    for (const std::size_t dim : {16u, 32u, 48u, 64u, 80u, 128u, 256u}) {
      INFO(name << " head_dim " << dim);
      constexpr std::size_t kHeads = 3;
      std::vector<float> cos(dim / 2);
      std::vector<float> sin(dim / 2);
      for (std::size_t i = 0; i < dim / 2; ++i) {
        const double angle =
            4711.0 * std::pow(1e6, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
        cos[i] = static_cast<float>(std::cos(angle));
        sin[i] = static_cast<float>(std::sin(angle));
      }
      const std::vector<float> x = random_floats(kHeads * dim, 7, 100.0f);
      GuardedBuffer<float> y(x);
      const GuardedBuffer<float> guarded_cos(cos);
      const GuardedBuffer<float> guarded_sin(sin);
      kernels->rope({.x = y.data(),
                     .heads = kHeads,
                     .head_dim = static_cast<std::int64_t>(dim),
                     .cos = guarded_cos.data(),
                     .sin = guarded_sin.data()});
      double worst = 0.0;
      for (std::size_t head = 0; head < kHeads; ++head) {
        const std::vector<float> part(x.begin() + static_cast<std::ptrdiff_t>(head * dim),
                                      x.begin() + static_cast<std::ptrdiff_t>((head + 1) * dim));
        const std::vector<double> expected = reference::rope(part, cos, sin);
        for (std::size_t i = 0; i < dim; ++i) {
          const double pair = std::hypot(part[i % (dim / 2)], part[i % (dim / 2) + dim / 2]);
          worst = std::max(worst, std::fabs(y.data()[head * dim + i] - expected[i]) / pair);
        }
      }
      // Three roundings of values no larger than the pair's length.
      CHECK(worst < 1.5 * std::numeric_limits<float>::epsilon());
    }
  }
}

TEST_CASE("all_finite: finds a bad value at every place of every length") {
  for (const auto& [name, kernels] : available_tiers()) {
    INFO(name);
    CHECK(kernels->all_finite(nullptr, 0));
    int wrong = 0;
    for (std::size_t n = 1; n <= 67; ++n) {
      std::vector<float> values(n, -std::numeric_limits<float>::max());
      GuardedBuffer<float> guarded(values);
      const auto count = static_cast<std::int64_t>(n);
      wrong += kernels->all_finite(guarded.data(), count) ? 0 : 1;
      for (std::size_t i = 0; i < n; ++i) {
        const float good = guarded.data()[i];
        for (const float bad : {kNan, kInfinity, -kInfinity}) {
          guarded.data()[i] = bad;
          wrong += kernels->all_finite(guarded.data(), count) ? 1 : 0;
        }
        guarded.data()[i] = good;
      }
    }
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace r1::kernels
