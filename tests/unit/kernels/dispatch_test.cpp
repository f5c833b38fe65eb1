// Names, order and completeness of the tiers' tables.
#include <catch2/catch.hpp>
#include <string>

#include "kernels/api/table.hpp"

namespace r1::kernels {

TEST_CASE("tiers have their names", "[dispatch]") {
  CHECK(std::string(isa_name(IsaTier::baseline)) == "baseline");
  CHECK(std::string(isa_name(IsaTier::avx2)) == "avx2");
  CHECK(std::string(isa_name(IsaTier::avx_vnni)) == "avx_vnni");
  CHECK(std::string(isa_name(IsaTier::avx512_vnni)) == "avx512_vnni");
  CHECK(std::string(isa_name(IsaTier::neon_dotprod)) == "neon_dotprod");
}

TEST_CASE("a table is there exactly when its tier is available, and whole", "[dispatch]") {
  for (int i = 0; i < kIsaTierCount; ++i) {
    const auto tier = static_cast<IsaTier>(i);
    INFO(isa_name(tier));
    const KernelTable* table = kernel_table(tier);
    CHECK((table != nullptr) == isa_available(tier));
    if (table == nullptr) continue;
    CHECK(table->tier == tier);
    for (const MatrixKernels* matrix : table->matrix) {
      REQUIRE(matrix != nullptr);
      CHECK(matrix->matmul != nullptr);
    }
    for (const EncodeFn encode : table->encode) CHECK(encode != nullptr);
    CHECK(table->floats != nullptr);
  }
}

TEST_CASE("the best tier is available and none above it is", "[dispatch]") {
  const IsaTier best = best_isa();
  CHECK(isa_available(best));
  for (int i = static_cast<int>(best) + 1; i < kIsaTierCount; ++i) {
    CHECK_FALSE(isa_available(static_cast<IsaTier>(i)));
  }
}

}  // namespace r1::kernels
