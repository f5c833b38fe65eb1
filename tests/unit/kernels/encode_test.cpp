// Activation rows: the properties that kernels rely on, odd values, and equal bytes on all tiers.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/unit/kernels/matrix_support.hpp"

namespace r1::kernels::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::int64_t pad64(std::int64_t n) { return (n + 63) / 64 * 64; }

/// An encoded row taken apart by the layout in api/weight_type.hpp.
struct Row {
  std::vector<int> codes;
  std::vector<float> scales;
  std::vector<int> sums;
};

Row take_apart(const std::byte* row, std::int64_t k) {
  Row out;
  for (std::int64_t i = 0; i < k; ++i) out.codes.push_back(static_cast<signed char>(row[i]));
  for (std::int64_t i = 0; i < k / 32; ++i) {
    float scale;
    std::memcpy(&scale, row + pad64(k) + 4 * i, 4);
    out.scales.push_back(scale);
  }
  for (std::int64_t i = 0; i < k / 16; ++i) {
    std::int16_t sum;
    std::memcpy(&sum, row + pad64(k) + pad64(k / 32 * 4) + 2 * i, 2);
    out.sums.push_back(sum);
  }
  return out;
}

GuardedBytes encode(const KernelTable& table, ActivationEncoding encoding,
                    const std::vector<float>& x) {
  const auto k = static_cast<std::int64_t>(x.size());
  GuardedBytes row(encoded_row_bytes(encoding, k));
  std::memset(row.data(), 0x5a, static_cast<std::size_t>(encoded_row_bytes(encoding, k)));
  const GuardedBytes source(k * 4);
  std::memcpy(source.data(), x.data(), x.size() * 4);
  table.encode[static_cast<int>(encoding)](source.floats(), k, row.data());
  return row;
}

std::vector<float> normal_values(std::int64_t k, float size, std::mt19937& random) {
  std::normal_distribution<float> normal(0, size);
  std::vector<float> out(static_cast<std::size_t>(k));
  for (float& value : out) value = normal(random);
  return out;
}

/// Rows of many sizes and shapes.
std::vector<std::vector<float>> sample_rows() {
  std::mt19937 random(11);
  std::vector<std::vector<float>> out;
  for (const std::int64_t k : {32, 64, 96, 256, 896, 1536}) {
    for (const float size : {1.0F, 1e-30F, 3e-37F, 1e-40F, 1e4F, 1e37F}) {
      out.push_back(normal_values(k, size, random));
    }
  }
  // One large value among small ones; halves that have to go to even; both ends of the range.
  std::vector<float> spike(64, 0.01F);
  spike[5] = 3e38F;
  spike[40] = -3e38F;
  out.push_back(spike);
  std::vector<float> halves(32);
  for (int i = 0; i < 32; ++i) halves[static_cast<std::size_t>(i)] = static_cast<float>(i) - 15.5F;
  halves[0] = 127;
  out.push_back(halves);
  out.emplace_back(32, std::numeric_limits<float>::max());
  out.emplace_back(32, -std::numeric_limits<float>::max());
  out.emplace_back(32, std::numeric_limits<float>::min());
  out.emplace_back(32, std::numeric_limits<float>::denorm_min());
  out.emplace_back(96, 0.0F);
  out.emplace_back(32, -0.0F);
  return out;
}

}  // namespace

TEST_CASE("q8 rows hold codes, scales and sums as documented", "[encode]") {
  for (const KernelTable* table : runnable_tables()) {
    INFO(isa_name(table->tier));
    for (const auto& x : sample_rows()) {
      const auto k = static_cast<std::int64_t>(x.size());
      const GuardedBytes bytes = encode(*table, ActivationEncoding::q8, x);
      const Row row = take_apart(bytes.data(), k);
      for (std::size_t block = 0; block < row.scales.size(); ++block) {
        float largest = 0;
        for (std::size_t i = 0; i < 32; ++i) {
          largest = std::max(largest, std::abs(x[32 * block + i]));
        }
        const float scale = row.scales[block];
        // Below, the scale would be subnormal.
        const bool counts = largest / 127 >= std::numeric_limits<float>::min();
        REQUIRE(scale == (counts ? largest / 127 : 0));
        int sums[2] = {0, 0};
        for (std::size_t i = 0; i < 32; ++i) {
          const int code = row.codes[32 * block + i];
          REQUIRE(std::abs(code) <= 127);
          sums[i / 16] += code;
          if (!counts) {
            REQUIRE(code == 0);
            continue;
          }
          // Half a step, and the roundings of the inverse and of the product.
          const double exact = static_cast<double>(x[32 * block + i]) / scale;
          REQUIRE(std::abs(exact - code) <= 0.5 + 127 * 0x1p-22);
        }
        REQUIRE(row.sums[2 * block] == sums[0]);
        REQUIRE(row.sums[2 * block + 1] == sums[1]);
      }
    }
  }
}

TEST_CASE("q8 rounds halves to even", "[encode]") {
  std::vector<float> x(32, 0.0F);
  x[0] = 127;
  const float values[] = {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 125.5F, 126.5F};
  const int expected[] = {0, 2, 2, 0, -2, -2, 126, 126};
  for (std::size_t i = 0; i < std::size(values); ++i) x[i + 1] = values[i];
  for (const KernelTable* table : runnable_tables()) {
    const GuardedBytes bytes = encode(*table, ActivationEncoding::q8, x);
    const Row row = take_apart(bytes.data(), 32);
    CHECK(row.scales[0] == 1.0F);
    for (std::size_t i = 0; i < std::size(values); ++i) CHECK(row.codes[i + 1] == expected[i]);
  }
}

TEST_CASE("infinities and NaN stay visible in a q8 row's scale", "[encode]") {
  for (const float odd : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t at : {0U, 7U, 15U, 16U, 31U}) {
      std::vector<float> x(64, 1.0F);
      x[at] = odd;
      for (const KernelTable* table : runnable_tables()) {
        const GuardedBytes bytes = encode(*table, ActivationEncoding::q8, x);
        const Row row = take_apart(bytes.data(), 64);
        CHECK_FALSE(std::isfinite(row.scales[0]));
        CHECK(row.scales[1] == 1.0F / 127.0F);
        for (const int code : row.codes) CHECK(std::abs(code) <= 127);
      }
    }
  }
}

TEST_CASE("f32 rows are the values and zeros behind them", "[encode]") {
  std::mt19937 random(12);
  for (const KernelTable* table : runnable_tables()) {
    for (const std::int64_t k : {1, 3, 4, 16, 17, 896}) {
      const std::vector<float> x = normal_values(k, 1, random);
      const GuardedBytes row = encode(*table, ActivationEncoding::f32, x);
      CHECK(same_bits(row.floats(), x.data(), k));
      for (std::int64_t i = 4 * k; i < encoded_row_bytes(ActivationEncoding::f32, k); ++i) {
        REQUIRE(row.data()[i] == std::byte{0});
      }
    }
  }
}

TEST_CASE("all tiers encode to the same bytes, padding included", "[encode]") {
  const auto tables = runnable_tables();
  auto rows = sample_rows();
  std::vector<float> odd(96, 1.0F);
  odd[3] = kInfinity;
  odd[40] = std::bit_cast<float>(0xffc01234U);
  odd[41] = std::bit_cast<float>(0x7fc00001U);
  rows.push_back(odd);
  for (const auto& x : rows) {
    const auto k = static_cast<std::int64_t>(x.size());
    for (const auto encoding : {ActivationEncoding::f32, ActivationEncoding::q8}) {
      const GuardedBytes first = encode(*tables.front(), encoding, x);
      for (const KernelTable* table : tables) {
        const GuardedBytes other = encode(*table, encoding, x);
        CHECK(std::memcmp(first.data(), other.data(),
                          static_cast<std::size_t>(encoded_row_bytes(encoding, k))) == 0);
      }
    }
  }
}

}  // namespace r1::kernels::test
