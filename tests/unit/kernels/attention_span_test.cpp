// Attention over contexts of several spans on every tier: against the double-precision oracle at
// the spans' edges, and the promise that spans computed apart and folded give the bits of the
// whole.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/unit/kernels/attention_fixture.hpp"

namespace r1::kernels {
namespace {

using test::available_tiers;
using test::Cache;
using test::different_bits;
using test::Expected;
using test::GuardedBuffer;
using test::Oracle;
using test::random_floats;
using test::Shape;
using test::usual_scale;
using test::worst_ratio;

TEST_CASE("attention: contexts of several spans against the oracle") {
  for (const KvType type : test::kKvTypes) {
    for (const std::size_t window : {0u, 500u, 513u}) {
      for (const std::size_t length : {511u, 512u, 513u, 530u, 1025u, 1600u}) {
        const Shape shape{.type = type, .head_dim = 64, .group = 7, .window = window};
        const float scale = usual_scale(shape);
        const std::vector<float> q = random_floats(length * 7 * 64, 81, 2.0f);
        const std::vector<float> k = random_floats(length * 64, 82);
        const std::vector<float> v = random_floats(length * 64, 83);
        const std::size_t rows = 20;
        const std::vector<Expected> expected =
            Oracle(shape, k, v).expect(q, scale, length - rows, rows);
        for (const auto& [name, kernels] : available_tiers()) {
          INFO(name << " " << test::type_name(type) << " window " << window << " length "
                    << length);
          Cache cache(*kernels, shape, k, v);
          cache.write_until(length);
          CHECK(worst_ratio(cache.attend(q, scale, length - rows, rows), expected) <= 1.0);
        }
      }
    }
  }
}

/// Rows [first, first + rows) from spans computed `at_once` a call, then folded.
std::vector<float> folded(const FloatKernels& kernels, const Cache& cache, const Shape& shape,
                          const std::vector<float>& q, std::size_t first, std::size_t rows,
                          std::size_t at_once) {
  const std::size_t row_size = shape.group * shape.head_dim;
  const std::size_t vectors = rows * shape.group;
  const std::size_t lowest =
      shape.window > 0 && first + 1 > shape.window ? first + 1 - shape.window : 0;
  const std::size_t begin = lowest / kSpanTokens;
  const std::size_t end = (first + rows - 1) / kSpanTokens + 1;
  const std::size_t spans = end - begin;
  GuardedBuffer<float> parts(spans * rows * row_size);
  GuardedBuffer<SoftmaxState> states(spans * vectors);
  for (std::size_t span = 0; span < spans; span += at_once) {
    AttentionArgs extra{};
    extra.states = states.data() + span * vectors;
    extra.span_begin = static_cast<std::int64_t>(begin + span);
    extra.span_end = static_cast<std::int64_t>(begin + std::min(span + at_once, spans));
    cache.run(q.data() + first * row_size, row_size, usual_scale(shape), first, rows, extra,
              parts.data() + span * rows * row_size);
  }
  GuardedBuffer<float> out(rows * row_size);
  kernels.attention_fold({.spans = static_cast<std::int64_t>(spans),
                          .rows = static_cast<std::int64_t>(rows),
                          .group = static_cast<std::int64_t>(shape.group),
                          .head_dim = static_cast<std::int64_t>(shape.head_dim),
                          .parts = parts.data(),
                          .states = states.data(),
                          .out = out.data(),
                          .out_stride = static_cast<std::int64_t>(row_size)});
  return out.values();
}

TEST_CASE("attention: spans computed apart and folded give the bits of the whole") {
  constexpr std::size_t kLength = 1700;
  for (const auto& [name, kernels] : available_tiers()) {
    for (const KvType type : test::kKvTypes) {
      for (const std::size_t dim : {64u, 80u, 128u}) {
        for (const std::size_t window : {0u, 600u}) {
          const Shape shape{.type = type, .head_dim = dim, .group = 6, .window = window};
          const std::vector<float> q = random_floats(kLength * 6 * dim, 91, 3.0f);
          Cache cache(*kernels, shape, random_floats(kLength * dim, 92),
                      random_floats(kLength * dim, 93));
          cache.write_until(kLength);
          // The last of these start before a span's edge and end behind it.
          for (const auto& [first, rows] : {std::pair<std::size_t, std::size_t>{1699, 1},
                                            {1536, 1},
                                            {1023, 1},
                                            {100, 3},
                                            {1020, 7},
                                            {1530, 40}}) {
            INFO(name << " " << test::type_name(type) << " dim " << dim << " window " << window
                      << " first " << first << " rows " << rows);
            const std::vector<float> whole = cache.attend(q, usual_scale(shape), first, rows);
            for (const std::size_t at_once : {1u, 2u, 4u}) {
              CHECK(different_bits(folded(*kernels, cache, shape, q, first, rows, at_once),
                                   whole) == 0);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("attention: a row's bits are the same alone and in batches across spans") {
  constexpr std::size_t kFirst = 1000;
  constexpr std::size_t kLength = 1060;
  for (const auto& [name, kernels] : available_tiers()) {
    for (const KvType type : test::kKvTypes) {
      for (const std::size_t group : {1u, 7u}) {
        const Shape shape{.type = type, .head_dim = 64, .group = group};
        const std::vector<float> q = random_floats(kLength * group * 64, 95, 3.0f);
        Cache cache(*kernels, shape, random_floats(kLength * 64, 96),
                    random_floats(kLength * 64, 97));
        cache.write_until(kFirst);
        std::vector<float> alone;
        for (std::size_t row = kFirst; row < kLength; ++row) {
          cache.write_until(row + 1);
          const std::vector<float> out = cache.attend(q, usual_scale(shape), row, 1);
          alone.insert(alone.end(), out.begin(), out.end());
        }
        for (const std::size_t step : {60u, 16u, 7u}) {
          std::vector<float> batched;
          for (std::size_t row = kFirst; row < kLength; row += step) {
            const std::vector<float> out =
                cache.attend(q, usual_scale(shape), row, std::min(step, kLength - row));
            batched.insert(batched.end(), out.begin(), out.end());
          }
          INFO(name << " " << test::type_name(type) << " group " << group << " step " << step);
          CHECK(different_bits(batched, alone) == 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace r1::kernels
