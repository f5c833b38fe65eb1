// Matrices that share an input, over teams of any size; and what encoding the remainders is worth.
#include "libr1/runtime/linear.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "kernels/api/pack.hpp"
#include "tests/support/random_model.hpp"

using namespace r1;
using kernels::WeightType;

namespace {

constexpr std::int64_t kK = 512;
constexpr std::int64_t kRows = 5;

struct Packed {
  model::Matrix matrix;
  base::AlignedBuffer buffer;
  std::vector<double> values;  ///< [n][k]
};

Packed packed(WeightType type, std::int64_t n, std::uint64_t seed) {
  const auto rows = support::random_rows(type, n, kK, 1, seed);
  const std::int64_t row_bytes = kernels::gguf_row_bytes(type, kK);
  const std::int64_t panel_bytes = kernels::panel_bytes(type, kK);
  const std::int64_t panels = (n + kernels::kPanelRows - 1) / kernels::kPanelRows;
  Packed result;
  result.buffer =
      base::AlignedBuffer(static_cast<std::size_t>(panels * panel_bytes), "test matrix");
  for (std::int64_t p = 0; p < panels; ++p) {
    const std::int64_t first = p * kernels::kPanelRows;
    kernels::pack_panel(type, rows.data() + first * row_bytes,
                        std::min(kernels::kPanelRows, n - first), kK,
                        result.buffer.data() + p * panel_bytes);
  }
  std::vector<float> row(kK);
  for (std::int64_t r = 0; r < n; ++r) {
    kernels::decode_gguf_row(type, rows.data() + r * row_bytes, kK, row.data());
    result.values.insert(result.values.end(), row.begin(), row.end());
  }
  result.matrix = {type, n, kK, result.buffer.data()};
  return result;
}

std::vector<float> inputs() {
  std::mt19937_64 random(7);
  std::normal_distribution<float> draw;
  std::vector<float> x(kRows * kK);
  for (float& value : x) value = draw(random);
  return x;
}

// Both matrices' outputs, one after the other.
std::vector<float> run(const Packed& a, const Packed& b, int threads, bool fine) {
  const kernels::KernelTable& table = *kernels::kernel_table(kernels::best_isa());
  base::ThreadTeam team(threads);
  runtime::EncodedRows encoded(kRows, kK);
  runtime::EncodingSet set{.fine = fine};
  set.add(a.matrix.type);
  set.add(b.matrix.type);
  const auto x = inputs();
  std::vector<float> scratch(kK);
  for (std::int64_t row = 0; row < kRows; ++row) {
    encoded.encode(table, set, x.data() + row * kK, kK, row, scratch.data());
  }
  std::vector<float> y(static_cast<std::size_t>(kRows * (a.matrix.n + b.matrix.n)));
  const std::vector<float> bias(static_cast<std::size_t>(a.matrix.n), 3);
  const runtime::LinearPart parts[] = {{&a.matrix, y.data(), a.matrix.n, bias.data()},
                                       {&b.matrix, y.data() + kRows * a.matrix.n, b.matrix.n}};
  base::SharedRange work;
  team.run([&](base::Worker& worker) {
    runtime::linear(table, worker, work, encoded, kRows, parts, fine);
  });
  return y;
}

double worst_error(const Packed& a, const Packed& b, const std::vector<float>& y) {
  const auto x = inputs();
  double worst = 0;
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (const Packed* w : {&a, &b}) {
      for (std::int64_t n = 0; n < w->matrix.n; ++n) {
        double expected = w == &a ? 3 : 0;
        for (std::int64_t k = 0; k < kK; ++k) {
          expected += w->values[static_cast<std::size_t>(n * kK + k)] *
                      static_cast<double>(x[static_cast<std::size_t>(row * kK + k)]);
        }
        const std::int64_t at =
            w == &a ? row * a.matrix.n + n : kRows * a.matrix.n + row * b.matrix.n + n;
        worst = std::max(worst,
                         std::abs(expected - static_cast<double>(y[static_cast<std::size_t>(at)])));
      }
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("a region computes all its matrices, whatever the number of threads") {
  const Packed a = packed(WeightType::q4_k, 40, 1);
  const Packed b = packed(WeightType::f32, 17, 2);
  for (const bool fine : {false, true}) {
    const auto alone = run(a, b, 1, fine);
    CHECK(worst_error(a, b, alone) < 2);  // sums of 512 products of deviation 1 have deviation 23
    for (const int threads : {2, 3, 7}) CHECK(run(a, b, threads, fine) == alone);
  }
}

TEST_CASE("the remainders make quantized products nearly exact") {
  for (const auto type :
       {WeightType::q4_0, WeightType::q6_k, WeightType::q8_0, WeightType::iq4_nl}) {
    const Packed a = packed(type, 40, 3);
    const Packed b = packed(type, 200, 4);
    const double coarse = worst_error(a, b, run(a, b, 2, false));
    const double fine = worst_error(a, b, run(a, b, 2, true));
    // A remainder is at most half a code, and its own code has 127 steps of that.
    CHECK(fine < coarse / 50);
  }
}

TEST_CASE("float types have no remainder") {
  const Packed a = packed(WeightType::f16, 16, 5);
  const Packed b = packed(WeightType::bf16, 16, 6);
  CHECK(run(a, b, 1, true) == run(a, b, 1, false));
}
