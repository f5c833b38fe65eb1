// Values of pools, decoded by the oracle, and streams out of them.
#include "libr1/model/synthetic_blocks.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "kernels/reference/decode.hpp"

using namespace r1;
using kernels::WeightType;
using model::BlockPool;
using model::BlockStream;

namespace {

// No multiple of any piece, and longer than a pool.
constexpr std::size_t kBytes = (std::size_t{1} << 21) + 12345;

std::vector<std::byte> bytes_of(const BlockPool& pool, const BlockStream& stream,
                                std::int64_t begin = 0, std::size_t count = kBytes) {
  std::vector<std::byte> bytes(count);
  pool.copy(stream, begin, bytes);
  return bytes;
}

std::vector<double> values_of(WeightType type, const std::vector<std::byte>& bytes,
                              std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto terms = kernels::reference::decode_terms<double>(type, bytes.data(), i);
    values.push_back(terms.product + terms.addend);
  }
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

TEST_CASE("blocks of every type decode to finite values of the wanted spread") {
  for (int i = 0; i < kernels::kWeightTypeCount; ++i) {
    const auto type = static_cast<WeightType>(i);
    INFO(kernels::format_info(type).name);
    const BlockPool pool(type, {0, 0.02F}, 1);
    const auto values = values_of(type, bytes_of(pool, {1, 99'991}), std::int64_t{1} << 17);
    for (const double value : values) REQUIRE(std::isfinite(value));
    CHECK(std::fabs(mean_of(values)) < 0.002);
    CHECK(deviation_of(values, 0) == Approx(0.02).epsilon(0.1));
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    CHECK(*low < -0.03);
    CHECK(*high > 0.03);
    CHECK(std::max(-*low, *high) < 0.2);
  }
}

TEST_CASE("float types have a mean") {
  const BlockPool pool(WeightType::f32, {1, 0.1F}, 1);
  const auto values = values_of(WeightType::f32, bytes_of(pool, {5, 17}), 100'000);
  CHECK(mean_of(values) == Approx(1).margin(0.002));
  CHECK(deviation_of(values, 1) == Approx(0.1).epsilon(0.02));
}

TEST_CASE("16-bit floats are the nearest or the cut ones") {
  // Equal seeds draw equal values, so the float32 pool holds what the others round. Pools differ in
  // how many blocks they have, but start alike; a stream of step 0 stays in its first piece.
  constexpr std::size_t kCount = 16'000;
  const auto of = [&](WeightType type, float deviation) {
    const auto size = static_cast<std::size_t>(kernels::format_info(type).block_bytes);
    return values_of(type, bytes_of(BlockPool(type, {0, deviation}, 3), {0, 0}, 0, kCount * size),
                     kCount);
  };
  // The smaller deviation makes subnormal halfs.
  for (const float deviation : {0.02F, 2e-5F}) {
    const auto exact = of(WeightType::f32, deviation);
    const auto half = of(WeightType::f16, deviation);
    const auto brain = of(WeightType::bf16, deviation);
    for (std::size_t i = 0; i < kCount; ++i) {
      REQUIRE(std::fabs(half[i] - exact[i]) <= std::max(std::fabs(exact[i]) * 0x1p-11, 0x1p-25));
      REQUIRE(std::fabs(brain[i] - exact[i]) <= std::fabs(exact[i]) * 0x1p-7);
    }
  }
}

TEST_CASE("a stream is the same in whatever ranges it is read") {
  const BlockPool pool(WeightType::q6_k, {0, 0.02F}, 1);
  const BlockStream stream = {0xFEDCBA9876543210, 0xFFFFFFFF};
  const auto whole = bytes_of(pool, stream);
  for (const std::size_t step : {std::size_t{210} * 100, std::size_t{65536}, std::size_t{99'999}}) {
    for (std::size_t at = 0; at < kBytes; at += step) {
      const auto part =
          bytes_of(pool, stream, static_cast<std::int64_t>(at), std::min(step, kBytes - at));
      REQUIRE(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(at)));
    }
  }
  CHECK(bytes_of(pool, stream, 77, 0).empty());
  // Far into the largest tensors.
  const auto far = bytes_of(pool, stream, std::int64_t{1} << 40, 5000);
  const auto tail = bytes_of(pool, stream, (std::int64_t{1} << 40) + 1000, 4000);
  CHECK(std::equal(tail.begin(), tail.end(), far.begin() + 1000));
}

TEST_CASE("pools depend on their seed only, streams on start and step") {
  const BlockPool pool(WeightType::q4_k, {0, 0.02F}, 1);
  const BlockPool same(WeightType::q4_k, {0, 0.02F}, 1);
  const BlockPool other(WeightType::q4_k, {0, 0.02F}, 2);
  const auto bytes = bytes_of(pool, {1, 1000});
  CHECK(bytes == bytes_of(same, {1, 1000}));
  CHECK(bytes != bytes_of(other, {1, 1000}));
  CHECK(bytes != bytes_of(pool, {2, 1000}));
  CHECK(bytes != bytes_of(pool, {1, 1001}));
}
