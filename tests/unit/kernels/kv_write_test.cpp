// The KV cache's writers on every tier: f16 patterns and their rounding, the codes and scales of q8
// against their definition, places in the page, extreme values and unreadable memory right behind
// every operand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>

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

std::span<const float> row_of(const GuardedBuffer<float>& rows, std::size_t row, std::size_t dim) {
  return {rows.data() + row * dim, dim};
}

void check_kv_write_q8(const FloatKernels& kernels, std::size_t heads, std::size_t dim) {
  const std::size_t head_bytes = dim * 16 + 32;
  GuardedBuffer<std::uint8_t> page(2 * heads * head_bytes);
  std::vector<std::uint8_t> expected = page.values();
  for (const std::size_t slot : {0u, 15u, 6u}) {
    const GuardedBuffer<float> k(random_floats(heads * dim, static_cast<std::uint32_t>(slot)));
    const GuardedBuffer<float> v(random_floats(heads * dim, static_cast<std::uint32_t>(slot) + 50));
    kernels.kv_write[static_cast<int>(KvType::q8)](
        {.k = k.data(),
         .v = v.data(),
         .kv_heads = static_cast<std::int64_t>(heads),
         .head_dim = static_cast<std::int64_t>(dim),
         .layer_page = reinterpret_cast<std::byte*>(page.data()),
         .slot = static_cast<std::int64_t>(slot)});
    for (std::size_t head = 0; head < heads; ++head) {
      std::uint8_t* const k_block = expected.data() + head * head_bytes;
      std::uint8_t* const v_block = expected.data() + (heads + head) * head_bytes;
      const reference::Q8Row k_row = reference::q8_row(row_of(k, head, dim));
      const reference::Q8Row v_row = reference::q8_row(row_of(v, head, dim));
      for (std::size_t d = 0; d < dim; ++d) {
        k_block[d * 16 + slot] = static_cast<std::uint8_t>(k_row.codes[d]);
        v_block[slot * dim + d] = static_cast<std::uint8_t>(v_row.codes[d]);
      }
      std::memcpy(k_block + dim * 16 + slot * 2, &k_row.scale, 2);
      std::memcpy(v_block + dim * 16 + slot * 2, &v_row.scale, 2);
    }
  }
  CHECK(page.values() == expected);
}

TEST_CASE("kv_write q8: codes like the others, then scales; nothing else is touched") {
  for (const auto& [name, kernels] : available_tiers()) {
    for (const std::size_t heads : {1u, 2u, 3u}) {
      for (const std::size_t dim : {16u, 64u, 80u, 128u, 256u}) {
        INFO(name << " heads " << heads << " head_dim " << dim);
        check_kv_write_q8(*kernels, heads, dim);
      }
    }
  }
}

/// V of a single head of 16 as the kernel encodes it.
reference::Q8Row encoded(const FloatKernels& kernels, const std::vector<float>& row) {
  GuardedBuffer<std::int8_t> page(2 * (16 * 16 + 32));
  kernels.kv_write[static_cast<int>(KvType::q8)](
      {.k = row.data(),
       .v = row.data(),
       .kv_heads = 1,
       .head_dim = 16,
       .layer_page = reinterpret_cast<std::byte*>(page.data()),
       .slot = 5});
  reference::Q8Row result;
  const std::int8_t* const v = page.data() + 16 * 16 + 32;
  std::memcpy(&result.scale, v + 16 * 16 + 5 * 2, 2);
  result.codes.assign(v + 5 * 16, v + 6 * 16);
  return result;
}

TEST_CASE("kv_write q8: rows of every magnitude, from nothing to beyond the largest scale") {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<std::vector<float>> rows;
  for (int exponent = -149; exponent <= 127; ++exponent) {
    for (int i = 0; i < 40; ++i) {
      std::vector<float>& row = rows.emplace_back(16);
      for (float& value : row) value = std::ldexp(uniform(random), exponent);
    }
  }
  // Largest values at the edges of the scale: exact ones, and the next float above and below.
  for (int bits = 1; bits < 0x7c00; bits += 7) {
    const auto scale = static_cast<float>(reference::f16_value(static_cast<std::uint16_t>(bits)));
    for (const float edge : {scale * 127.0f, std::nextafterf(scale * 127.0f, kInfinity),
                             std::nextafterf(scale * 127.0f, 0.0f)}) {
      std::vector<float>& row = rows.emplace_back(16);
      for (std::size_t i = 0; i < 16; ++i) row[i] = uniform(random) * edge;
      row[static_cast<std::size_t>(bits) % 16] = bits % 2 == 0 ? edge : -edge;
    }
  }
  for (const float largest :
       {0.0f, -0.0f, 127.0f * 65504.0f, std::nextafterf(127.0f * 65504.0f, kInfinity),
        std::numeric_limits<float>::max(), kInfinity, -kInfinity, kNan}) {
    for (std::size_t place = 0; place < 16; ++place) {
      rows.emplace_back(16, largest == 0.0f ? largest : 1.0f)[place] = largest;
    }
  }
  for (const auto& [name, kernels] : available_tiers()) {
    int wrong = 0;
    for (const std::vector<float>& row : rows) {
      const reference::Q8Row got = encoded(*kernels, row);
      const reference::Q8Row expected = reference::q8_row(row);
      wrong += got.scale == expected.scale && got.codes == expected.codes ? 0 : 1;
    }
    INFO(name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("kv_write q8: no value is further off than half a scale") {
  for (const auto& [name, kernels] : available_tiers()) {
    double worst = 0.0;
    for (int exponent = -30; exponent <= 22; ++exponent) {
      for (std::uint32_t seed = 0; seed < 30; ++seed) {
        const std::vector<float> row = random_floats(16, seed, std::ldexp(1.0f, exponent));
        const reference::Q8Row got = encoded(*kernels, row);
        const double scale = reference::f16_value(got.scale);
        if (std::isnan(scale)) continue;
        for (std::size_t i = 0; i < row.size(); ++i) {
          worst = std::max(worst, std::fabs(row[i] - scale * got.codes[i]) / scale);
        }
      }
    }
    INFO(name);
    // Two roundings of a quotient of up to 127.
    CHECK(worst <= 0.5 + 2 * 127 * std::numeric_limits<float>::epsilon());
  }
}

TEST_CASE("q8: every scale times every code has its exact value") {
  // Attention to a single token returns its V, since a lone weight is exactly 1.
  GuardedBuffer<std::byte> scratch(kAttentionScratchBytes);
  for (const auto& [name, kernels] : available_tiers()) {
    int wrong = 0;
    for (int bits = 0; bits < 0x7c00; ++bits) {
      GuardedBuffer<std::int8_t> page(2 * (16 * 16 + 32));
      std::fill_n(page.data(), 2 * (16 * 16 + 32), std::int8_t{0});
      std::int8_t* const v = page.data() + 16 * 16 + 32;
      for (int d = 0; d < 16; ++d) v[d] = static_cast<std::int8_t>((bits + d) * 16 % 255 - 127);
      const auto scale = static_cast<std::uint16_t>(bits);
      std::memcpy(v + 16 * 16, &scale, 2);
      const std::byte* pages[] = {reinterpret_cast<const std::byte*>(page.data())};
      const std::vector<float> q(16, 1.0f);
      std::vector<float> out(16);
      AttentionArgs args{};
      args.q = q.data();
      args.q_stride = 16;
      args.rows = 1;
      args.group = 1;
      args.head_dim = 16;
      args.scale = 1.0f;
      args.pages = pages;
      args.v_offset = 16 * 16 + 32;
      args.out = out.data();
      args.out_stride = 16;
      args.scratch = scratch.data();
      kernels->attention[static_cast<int>(KvType::q8)](args);
      for (std::size_t d = 0; d < 16; ++d) {
        wrong += out[d] == reference::f16_value(scale) * v[d] ? 0 : 1;
      }
    }
    INFO(name);
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace r1::kernels
