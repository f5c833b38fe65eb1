// matmul of every tier and every weight type: against the double-precision oracle, with odd
// contents, and bit for bit the same whatever the batch and the range of panels. All memory ends at
// guard pages.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "kernels/reference/matmul.hpp"
#include "tests/unit/kernels/matrix_support.hpp"

namespace r1::kernels::test {
namespace {

constexpr std::int64_t kRowsMax = 64;
constexpr std::int64_t kColumnsMax = 48;
constexpr std::int64_t kRowCounts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 49, 64};
constexpr std::int64_t kColumnCounts[] = {1, 15, 16, 17, 31, 48};

/// Weights and encoded activations of one case, and what the oracle makes of them.
struct Case {
  WeightType type;
  std::int64_t k;
  std::vector<std::byte> rows;        ///< kColumnsMax GGUF rows
  std::vector<std::vector<float>> x;  ///< m rows

  std::int64_t m() const { return static_cast<std::int64_t>(x.size()); }
  ActivationEncoding encoding() const { return format_info(type).encoding; }
  std::int64_t stride() const { return encoded_row_bytes(encoding(), k); }
  GuardedBytes encoded(const KernelTable& table, std::int64_t count) const {
    GuardedBytes out(count * stride());
    for (std::int64_t r = 0; r < count; ++r) {
      table.encode[static_cast<int>(encoding())](x[static_cast<std::size_t>(r)].data(), k,
                                                 out.data() + r * stride());
    }
    return out;
  }
};

Case make_case(WeightType type, std::int64_t k, Fill fill, std::int64_t m, std::mt19937& random) {
  Case out{type, k, make_rows(type, kColumnsMax, k, fill, random), {}};
  std::normal_distribution<float> normal(0, 1);
  for (std::int64_t r = 0; r < m; ++r) {
    std::vector<float> row(static_cast<std::size_t>(k));
    for (float& value : row) value = normal(random);
    out.x.push_back(row);
  }
  return out;
}

/// y[m][n] of the first m rows and n columns; y ends at a guard page.
GuardedBytes run(const KernelTable& table, const Case& c, const GuardedBytes& packed,
                 const GuardedBytes& x, std::int64_t m, std::int64_t n, std::int64_t panel_begin,
                 std::int64_t panel_end) {
  GuardedBytes y(m * n * 4);
  MatmulArgs args{};
  args.panels = packed.data();
  args.n = n;
  args.k = c.k;
  args.panel_begin = panel_begin;
  args.panel_end = panel_end;
  args.x = x.data();
  args.x_stride = c.stride();
  args.m = m;
  args.y = y.floats();
  args.y_stride = n;
  table.matrix[static_cast<int>(c.type)]->matmul(args);
  return y;
}

/// Roundings that a result may have seen, in units of half an ulp of the magnitude: one a step of
/// the longest float chain, and a few in the scales and at the end.
double tolerance(const Case& c) {
  const bool plain = c.encoding() == ActivationEncoding::f32;
  // Two steps for each scale of at least 16 values; a quarter of k, with two roundings without fma.
  const double steps = plain ? static_cast<double>(c.k) / 2 : static_cast<double>(c.k) / 8;
  return (steps + 8) * 0x1p-24;
}

void check_against_oracle(const Case& c, const GuardedBytes& x, const float* y) {
  std::vector<std::vector<double>> values;
  for (std::int64_t r = 0; r < c.m(); ++r) {
    values.push_back(reference::encoded_values(c.encoding(), x.data() + r * c.stride(), c.k));
  }
  const auto expected = reference::matmul(c.type, c.rows.data(), kColumnsMax, values);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double bound = tolerance(c) * expected[i].magnitude + 1e-37;
    if (!(std::abs(static_cast<double>(y[i]) - expected[i].value) <= bound)) {
      INFO("row " << i / kColumnsMax << " column " << i % kColumnsMax << " magnitude "
                  << expected[i].magnitude);
      CHECK(static_cast<double>(y[i]) == Approx(expected[i].value).margin(bound));
      return;
    }
  }
}

/// k of one block, three blocks, and a real width.
std::vector<std::int64_t> widths(WeightType type) {
  const int block = format_info(type).block_values;
  if (block == 1) return {1, 3, 4, 896};
  if (block == 32) return {32, 96, 288, 896};
  return {256, 768, 1536};
}

}  // namespace

TEST_CASE("matmul agrees with the oracle, with the same bits for any m and n", "[matmul]") {
  for (const WeightType type : all_types()) {
    std::mt19937 random(21);
    INFO(format_info(type).name);
    for (const std::int64_t k : widths(type)) {
      INFO("k " << k);
      const Case c = make_case(type, k, Fill::random, kRowsMax, random);
      for (const KernelTable* table : runnable_tables()) {
        INFO(isa_name(table->tier));
        const GuardedBytes all_x = c.encoded(*table, kRowsMax);
        const GuardedBytes all_packed = pack_rows(type, c.rows, kColumnsMax, k);
        const GuardedBytes all =
            run(*table, c, all_packed, all_x, kRowsMax, kColumnsMax, 0, kColumnsMax / kPanelRows);
        check_against_oracle(c, all_x, all.floats());
        for (const std::int64_t n : kColumnCounts) {
          const GuardedBytes packed = pack_rows(type, c.rows, n, k);
          for (const std::int64_t m : kRowCounts) {
            const GuardedBytes x = c.encoded(*table, m);
            const GuardedBytes y =
                run(*table, c, packed, x, m, n, 0, (n + kPanelRows - 1) / kPanelRows);
            for (std::int64_t r = 0; r < m; ++r) {
              INFO("m " << m << " n " << n << " row " << r);
              REQUIRE(same_bits(y.floats() + r * n, all.floats() + r * kColumnsMax, n));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("rows beyond one block of rows have the bits of single rows", "[matmul]") {
  // Around the ends of blocks of 171 or 192 rows, whichever a kernel works in.
  constexpr std::int64_t kRows[] = {0,   63,  170, 171, 172, 190, 191, 192,
                                    193, 341, 342, 345, 383, 384, 385, 511};
  constexpr std::int64_t kColumns = 33;
  for (const WeightType type : all_types()) {
    std::mt19937 random(28);
    INFO(format_info(type).name);
    const Case c = make_case(type, 256, Fill::random, 512, random);
    const GuardedBytes packed = pack_rows(type, c.rows, kColumns, c.k);
    for (const KernelTable* table : runnable_tables()) {
      INFO(isa_name(table->tier));
      const GuardedBytes x = c.encoded(*table, c.m());
      std::vector<GuardedBytes> singles;
      for (const std::int64_t row : kRows) {
        const GuardedBytes one(c.stride());
        std::memcpy(one.data(), x.data() + row * c.stride(), static_cast<std::size_t>(c.stride()));
        singles.push_back(run(*table, c, packed, one, 1, kColumns, 0, 3));
      }
      for (const std::int64_t m : {171, 192, 193, 385, 512}) {
        const GuardedBytes y = run(*table, c, packed, x, m, kColumns, 0, 3);
        for (std::size_t i = 0; i < std::size(kRows) && kRows[i] < m; ++i) {
          INFO("m " << m << " row " << kRows[i]);
          REQUIRE(same_bits(y.floats() + kRows[i] * kColumns, singles[i].floats(), kColumns));
        }
      }
    }
  }
}

TEST_CASE("matmul is right at extreme codes, scales and activations", "[matmul]") {
  for (const WeightType type : all_types()) {
    std::mt19937 random(22);
    INFO(format_info(type).name);
    for (const Fill fill : kFills) {
      INFO("fill " << static_cast<int>(fill));
      // Codes of +-127 only, with one sign, with signs that alternate, and with random signs.
      Case c = make_case(type, 768, fill, 5, random);
      for (std::size_t i = 0; i < 768; ++i) {
        c.x[0][i] = 1;
        c.x[1][i] = -1;
        c.x[2][i] = i % 2 == 0 ? 1 : -1;
        c.x[3][i] = random() % 2 == 0 ? 1 : -1;
        c.x[4][i] = i % 32 == 0 ? 1e4F : 1e-4F;
      }
      for (const KernelTable* table : runnable_tables()) {
        INFO(isa_name(table->tier));
        const GuardedBytes packed = pack_rows(type, c.rows, kColumnsMax, c.k);
        const GuardedBytes x = c.encoded(*table, c.m());
        const GuardedBytes y = run(*table, c, packed, x, c.m(), kColumnsMax, 0, 3);
        check_against_oracle(c, x, y.floats());
        const GuardedBytes one = run(*table, c, packed, x, 1, kColumnsMax, 0, 3);
        CHECK(same_bits(one.floats(), y.floats(), kColumnsMax));
      }
    }
  }
}

TEST_CASE("matmul writes its panels and nothing else", "[matmul]") {
  constexpr float kMark = 12345.0F;
  constexpr std::int64_t kStride = kColumnsMax + 5;
  for (const WeightType type : all_types()) {
    std::mt19937 random(23);
    INFO(format_info(type).name);
    const Case c = make_case(type, 256, Fill::random, 9, random);
    for (const KernelTable* table : runnable_tables()) {
      INFO(isa_name(table->tier));
      const GuardedBytes packed = pack_rows(type, c.rows, kColumnsMax, c.k);
      const GuardedBytes x = c.encoded(*table, c.m());
      for (const std::int64_t n : {1, 15, 17, 33, 47}) {
        const GuardedBytes all = run(*table, c, packed, x, c.m(), n, 0, (n + 15) / 16);
        for (std::int64_t begin = 0; begin < (n + 15) / 16; ++begin) {
          for (std::int64_t end = begin; end <= (n + 15) / 16; ++end) {
            for (const std::int64_t m : {std::int64_t{1}, c.m()}) {
              std::vector<float> y(static_cast<std::size_t>(m * kStride), kMark);
              MatmulArgs args{packed.data(), n, c.k,      begin,   end,     x.data(),
                              c.stride(),    m, y.data(), kStride, nullptr, nullptr};
              table->matrix[static_cast<int>(type)]->matmul(args);
              for (std::int64_t i = 0; i < m * kStride; ++i) {
                const std::int64_t column = i % kStride;
                const bool written =
                    column < n && column >= begin * kPanelRows && column < end * kPanelRows;
                const float expected = written ? all.floats()[i / kStride * n + column] : kMark;
                REQUIRE(same_bits(&y[static_cast<std::size_t>(i)], &expected, 1));
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("matmul adds bias, then residual, which may be y", "[matmul]") {
  for (const WeightType type :
       {WeightType::f32, WeightType::f16, WeightType::q4_k, WeightType::q6_k, WeightType::q8_0}) {
    std::mt19937 random(24);
    INFO(format_info(type).name);
    const Case c = make_case(type, 256, Fill::random, 7, random);
    for (const KernelTable* table : runnable_tables()) {
      INFO(isa_name(table->tier));
      for (const std::int64_t n : {5, 16, 29}) {
        const GuardedBytes packed = pack_rows(type, c.rows, n, c.k);
        for (const std::int64_t m : {1, 7}) {
          const GuardedBytes x = c.encoded(*table, m);
          const GuardedBytes plain = run(*table, c, packed, x, m, n, 0, (n + 15) / 16);
          const GuardedBytes bias(n * 4);
          const GuardedBytes y(m * n * 4);
          const GuardedBytes residual(m * n * 4);
          for (std::int64_t i = 0; i < n; ++i) bias.floats()[i] = static_cast<float>(i) / 3;
          for (std::int64_t i = 0; i < m * n; ++i) {
            y.floats()[i] = residual.floats()[i] = static_cast<float>(random() % 1000) / 7;
          }
          MatmulArgs args{packed.data(), n, c.k,        0, (n + 15) / 16, x.data(),
                          c.stride(),    m, y.floats(), n, bias.floats(), y.floats()};
          table->matrix[static_cast<int>(type)]->matmul(args);
          for (std::int64_t i = 0; i < m * n; ++i) {
            const float expected =
                (plain.floats()[i] + bias.floats()[i % n]) + residual.floats()[i];
            REQUIRE(same_bits(y.floats() + i, &expected, 1));
          }
          args.bias = nullptr;
          args.residual = residual.floats();
          table->matrix[static_cast<int>(type)]->matmul(args);
          for (std::int64_t i = 0; i < m * n; ++i) {
            const float expected = plain.floats()[i] + residual.floats()[i];
            REQUIRE(same_bits(y.floats() + i, &expected, 1));
          }
        }
      }
    }
  }
}

TEST_CASE("block sums of large activations do not overflow", "[matmul]") {
  // 32 neighbours near 3000 sum to 96,000 and some values are 30,000: too much for f16 sums.
  for (const WeightType type : all_types()) {
    std::mt19937 random(25);
    INFO(format_info(type).name);
    Case c = make_case(type, 512, Fill::random, 3, random);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t i = 0; i < 512; ++i) {
        c.x[r][i] = (i % 100 == 7 ? 30000.0F : 3000.0F) * (r == 2 ? 1e33F : 1.0F);
      }
    }
    for (const KernelTable* table : runnable_tables()) {
      INFO(isa_name(table->tier));
      const GuardedBytes packed = pack_rows(type, c.rows, kColumnsMax, c.k);
      const GuardedBytes x = c.encoded(*table, c.m());
      Case finite = c;
      finite.x.resize(2);
      const GuardedBytes y = run(*table, c, packed, x, 2, kColumnsMax, 0, 3);
      check_against_oracle(finite, x, y.floats());
    }
  }
}

TEST_CASE("a NaN or an infinity in the activations reaches the result", "[matmul]") {
  for (const WeightType type : all_types()) {
    std::mt19937 random(26);
    INFO(format_info(type).name);
    Case c = make_case(type, 512, Fill::random, 2, random);
    c.x[0][300] = std::numeric_limits<float>::quiet_NaN();
    c.x[1][300] = std::numeric_limits<float>::infinity();
    for (const KernelTable* table : runnable_tables()) {
      INFO(isa_name(table->tier));
      const GuardedBytes packed = pack_rows(type, c.rows, kColumnsMax, c.k);
      const GuardedBytes x = c.encoded(*table, c.m());
      const GuardedBytes y = run(*table, c, packed, x, 2, kColumnsMax, 0, 3);
      for (std::int64_t i = 0; i < 2 * kColumnsMax; ++i) {
        REQUIRE_FALSE(std::isfinite(y.floats()[i]));
      }
    }
  }
}

TEST_CASE("matmul works without panels", "[matmul]") {
  std::mt19937 random(27);
  const Case c = make_case(WeightType::q4_k, 256, Fill::random, 2, random);
  for (const KernelTable* table : runnable_tables()) {
    const GuardedBytes packed = pack_rows(c.type, c.rows, 16, c.k);
    const GuardedBytes x = c.encoded(*table, 2);
    const GuardedBytes y = run(*table, c, packed, x, 2, 16, 1, 1);
    for (int i = 0; i < 32; ++i) CHECK(y.floats()[i] == 0.0F);
  }
}

}  // namespace r1::kernels::test
