// Element-wise float kernels and the KV writer on every tier against the double-precision oracle,
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

// f16 patterns through the public kernels: kv_write stores float32 as f16 ...
std::vector<std::uint16_t> to_f16(const FloatKernels& kernels, std::vector<float> values) {
  const std::size_t count = values.size();
  values.resize((count + 15) / 16 * 16, 0.0f);
  std::vector<std::uint16_t> result;
  for (std::size_t i = 0; i < values.size(); i += 16) {
    GuardedBuffer<std::uint16_t> page(2 * 16 * 16);
    kernels.kv_write[static_cast<int>(KvType::f16)](
        {.k = &values[i],
         .v = &values[i],
         .kv_heads = 1,
         .head_dim = 16,
         .layer_page = reinterpret_cast<std::byte*>(page.data()),
         .slot = 3});
    for (std::size_t d = 0; d < 16; ++d) {
      const std::uint16_t in_k = page.data()[d * 16 + 3];
      CHECK(in_k == page.data()[256 + 3 * 16 + d]);
      result.push_back(in_k);
    }
  }
  result.resize(count);
  return result;
}

// ... and attention to a single token returns its V, since a lone weight is exactly 1.
std::vector<float> from_f16(const FloatKernels& kernels, const std::vector<std::uint16_t>& halves) {
  std::vector<float> result;
  GuardedBuffer<std::byte> scratch(kAttentionScratchBytes);
  for (std::size_t i = 0; i < halves.size(); i += 16) {
    GuardedBuffer<std::uint16_t> page(2 * 16 * 16);
    for (std::size_t d = 0; d < 16; ++d) {
      page.data()[d * 16] = 0;
      page.data()[256 + d] = halves[i + d];
    }
    const std::byte* pages[] = {reinterpret_cast<const std::byte*>(page.data())};
    const std::vector<float> q(16, 1.0f);
    std::vector<float> out(16);
    kernels.attention[static_cast<int>(KvType::f16)]({.q = q.data(),
                                                      .q_stride = 16,
                                                      .rows = 1,
                                                      .group = 1,
                                                      .head_dim = 16,
                                                      .scale = 1.0f,
                                                      .first_position = 0,
                                                      .window = 0,
                                                      .pages = pages,
                                                      .k_offset = 0,
                                                      .v_offset = 512,
                                                      .bias_terms = 0,
                                                      .bias_q = nullptr,
                                                      .bias_tables = nullptr,
                                                      .out = out.data(),
                                                      .out_stride = 16,
                                                      .scratch = scratch.data(),
                                                      .states = nullptr,
                                                      .span_begin = 0,
                                                      .span_end = 0});
    result.insert(result.end(), out.begin(), out.end());
  }
  return result;
}

TEST_CASE("f16: all 65536 patterns have their IEEE value") {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  for (const auto& [name, kernels] : available_tiers()) {
    INFO(name);
    const std::vector<float> values = from_f16(*kernels, halves);
    int wrong = 0;
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const double expected = reference::f16_value(halves[i]);
      const bool same =
          std::isnan(expected) ? std::isnan(values[i]) : static_cast<double>(values[i]) == expected;
      wrong += same ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("f16: rounding to nearest even, overflow, subnormals") {
  // Every pattern's own value, the exact middle between neighbours, and one float32 step to both
  // sides.
  std::vector<float> values = {0.0f,
                               -0.0f,
                               65504.0f,
                               65519.996f,
                               65520.0f,
                               -65520.0f,
                               1e30f,
                               -1e-30f,
                               1e-45f,
                               kInfinity,
                               -kInfinity,
                               70000.0f,
                               -160000.0f,
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::min()};
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const auto low = static_cast<float>(reference::f16_value(static_cast<std::uint16_t>(bits)));
    const auto step = static_cast<float>(
        bits < 0x7bff ? reference::f16_value(static_cast<std::uint16_t>(bits + 1)) : 65536.0);
    const float middle = 0.5f * (low + step);
    const float sign = bits % 2 == 0 ? 1.0f : -1.0f;
    for (const float value :
         {low, middle, std::nextafterf(middle, 0.0f), std::nextafterf(middle, kInfinity)}) {
      values.push_back(sign * value);
    }
  }
  std::vector<std::uint16_t> expected;
  for (const float value : values) expected.push_back(reference::f16_nearest(value));
  for (const auto& [name, kernels] : available_tiers()) {
    INFO(name);
    const std::vector<std::uint16_t> halves = to_f16(*kernels, values);
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) wrong += halves[i] == expected[i] ? 0 : 1;
    CHECK(wrong == 0);
    for (const std::uint16_t half : to_f16(*kernels, {kNan, -kNan})) {
      CHECK(std::isnan(reference::f16_value(half)));
    }
  }
}

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

template <class Element>
void check_kv_write(const FloatKernels& kernels, KvType type, std::size_t heads, std::size_t dim) {
  GuardedBuffer<Element> page(2 * heads * dim * 16);
  std::vector<Element> expected = page.values();
  for (const std::size_t slot : {0u, 15u, 6u}) {
    const GuardedBuffer<float> k(random_floats(heads * dim, static_cast<std::uint32_t>(slot)));
    const GuardedBuffer<float> v(random_floats(heads * dim, static_cast<std::uint32_t>(slot) + 50));
    kernels.kv_write[static_cast<int>(type)](
        {.k = k.data(),
         .v = v.data(),
         .kv_heads = static_cast<std::int64_t>(heads),
         .head_dim = static_cast<std::int64_t>(dim),
         .layer_page = reinterpret_cast<std::byte*>(page.data()),
         .slot = static_cast<std::int64_t>(slot)});
    const auto stored = [](float value) {
      if constexpr (sizeof(Element) == 2)
        return reference::f16_nearest(value);
      else
        return value;
    };
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t d = 0; d < dim; ++d) {
        expected[(head * dim + d) * 16 + slot] = stored(k.data()[head * dim + d]);
        expected[((heads + head) * 16 + slot) * dim + d] = stored(v.data()[head * dim + d]);
      }
    }
  }
  // As bytes, because the untouched slots are NaN.
  CHECK(std::memcmp(page.data(), expected.data(), expected.size() * sizeof(Element)) == 0);
}

TEST_CASE("kv_write: K goes by columns, V by rows, nothing else is touched") {
  for (const auto& [name, kernels] : available_tiers()) {
    for (const std::size_t heads : {1u, 2u, 3u}) {
      for (const std::size_t dim : {16u, 64u, 80u, 128u}) {
        INFO(name << " heads " << heads << " head_dim " << dim);
        check_kv_write<float>(*kernels, KvType::f32, heads, dim);
        check_kv_write<std::uint16_t>(*kernels, KvType::f16, heads, dim);
      }
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
