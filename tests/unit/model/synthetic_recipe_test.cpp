// Types of matrices, against listings made by hand from llama.cpp's quantizer
// (src/llama-quant.cpp, 2026-08).
#include "libr1/model/synthetic_recipe.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "r1/error.hpp"

using namespace r1;
using kernels::WeightType;
using model::MatrixPlace;
using model::MatrixRole;
using model::TypeRecipe;

namespace {

/// Layers in which a role has `type`, rows being of 256 values.
std::set<std::int64_t> layers_of(const char* recipe, MatrixRole role, std::int64_t layers,
                                 WeightType type) {
  std::set<std::int64_t> found;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    if (TypeRecipe(recipe).type_of({role, layer, layers, 256}) == type) found.insert(layer);
  }
  return found;
}

WeightType type_of(const char* recipe, MatrixRole role, std::int64_t k = 256) {
  return TypeRecipe(recipe).type_of({role, 10, 28, k});
}

std::set<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::set<std::int64_t> all;
  for (std::int64_t i = begin; i < end; ++i) all.insert(i);
  return all;
}

}  // namespace

TEST_CASE("every weight type that models are quantized to is a recipe for all matrices") {
  for (int i = 0; i < kernels::kWeightTypeCount; ++i) {
    const auto type = static_cast<WeightType>(i);
    const char* name = kernels::format_info(type).name;
    // Models have ternary weights by training only.
    if (type == WeightType::tq2_0) continue;
    INFO(name);
    REQUIRE(TypeRecipe::names().at(static_cast<std::size_t>(i)) == name);
    for (const MatrixRole role :
         {MatrixRole::embedding, MatrixRole::output, MatrixRole::attn_v, MatrixRole::attn_output,
          MatrixRole::ffn_down, MatrixRole::other}) {
      CHECK(layers_of(name, role, 28, type) == range(0, 28));
    }
  }
}

TEST_CASE("Q4_K_M and Q5_K_M raise values and down projections in half of the layers") {
  const std::set<std::int64_t> of_28 = {0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 24, 25, 26, 27};
  const std::set<std::int64_t> of_24 = {0, 1, 2, 5, 8, 11, 14, 17, 20, 21, 22, 23};
  for (const char* name : {"Q4_K_M", "Q5_K_M"}) {
    const WeightType base = name[1] == '4' ? WeightType::q4_k : WeightType::q5_k;
    for (const MatrixRole role : {MatrixRole::attn_v, MatrixRole::ffn_down}) {
      CHECK(layers_of(name, role, 28, WeightType::q6_k) == of_28);
      CHECK(layers_of(name, role, 24, WeightType::q6_k) == of_24);
      CHECK(layers_of(name, role, 28, base).size() == 14);
    }
    for (const MatrixRole role : {MatrixRole::attn_output, MatrixRole::other}) {
      CHECK(layers_of(name, role, 28, base) == range(0, 28));
    }
    CHECK(type_of(name, MatrixRole::embedding) == base);
    CHECK(type_of(name, MatrixRole::output) == WeightType::q6_k);
  }
}

TEST_CASE("the smaller mixtures") {
  CHECK(layers_of("Q4_K_S", MatrixRole::attn_v, 28, WeightType::q5_k) == range(0, 4));
  CHECK(layers_of("Q4_K_S", MatrixRole::attn_v, 28, WeightType::q4_k) == range(4, 28));
  CHECK(layers_of("Q4_K_S", MatrixRole::ffn_down, 28, WeightType::q5_k) == range(0, 3));
  CHECK(layers_of("Q4_K_S", MatrixRole::ffn_down, 28, WeightType::q4_k) == range(3, 28));
  CHECK(type_of("Q4_K_S", MatrixRole::attn_output) == WeightType::q4_k);

  for (const MatrixRole role : {MatrixRole::attn_v, MatrixRole::ffn_down, MatrixRole::other}) {
    CHECK(layers_of("Q5_K_S", role, 28, WeightType::q5_k) == range(0, 28));
  }

  CHECK(layers_of("Q3_K_M", MatrixRole::attn_v, 28, WeightType::q5_k) == range(0, 2));
  CHECK(layers_of("Q3_K_M", MatrixRole::attn_v, 28, WeightType::q4_k) == range(2, 28));
  CHECK(layers_of("Q3_K_M", MatrixRole::ffn_down, 28, WeightType::q5_k) == range(0, 1));
  CHECK(layers_of("Q3_K_M", MatrixRole::ffn_down, 28, WeightType::q4_k) == range(1, 28));
  CHECK(type_of("Q3_K_M", MatrixRole::attn_output) == WeightType::q4_k);
  CHECK(type_of("Q3_K_M", MatrixRole::other) == WeightType::q3_k);
  CHECK(type_of("Q3_K_M", MatrixRole::embedding) == WeightType::q3_k);
  for (const char* name : {"Q4_K_S", "Q5_K_S", "Q3_K_M"}) {
    CHECK(type_of(name, MatrixRole::output) == WeightType::q6_k);
  }
}

TEST_CASE("rows that are no multiple of 256 get the type with blocks of 32 that llama.cpp takes") {
  const std::vector<std::pair<const char*, WeightType>> expected = {
      {"Q2_K", WeightType::q4_0},     {"Q3_K", WeightType::q4_0},   {"Q4_K", WeightType::q5_0},
      {"Q5_K", WeightType::q5_1},     {"Q6_K", WeightType::q8_0},   {"IQ4_XS", WeightType::iq4_nl},
      {"IQ4_NL", WeightType::iq4_nl}, {"Q8_0", WeightType::q8_0},   {"Q4_1", WeightType::q4_1},
      {"Q4_K_M", WeightType::q5_0},   {"Q5_K_M", WeightType::q5_1},
  };
  for (const auto& [name, type] : expected) {
    INFO(name);
    CHECK(type_of(name, MatrixRole::other, 896) == type);
    CHECK(type_of(name, MatrixRole::other, 80) == WeightType::f16);
  }
  CHECK(type_of("Q4_K_M", MatrixRole::output, 896) == WeightType::q8_0);
  CHECK(TypeRecipe("Q4_K_M").type_of({MatrixRole::attn_v, 0, 24, 896}) == WeightType::q8_0);
}

TEST_CASE("file types are llama.h's numbers") {
  CHECK(TypeRecipe("F32").file_type() == 0);
  CHECK(TypeRecipe("F16").file_type() == 1);
  CHECK(TypeRecipe("Q8_0").file_type() == 7);
  CHECK(TypeRecipe("Q3_K_M").file_type() == 12);
  CHECK(TypeRecipe("Q4_K_S").file_type() == 14);
  CHECK(TypeRecipe("Q4_K_M").file_type() == 15);
  CHECK(TypeRecipe("Q5_K_M").file_type() == 17);
  CHECK(TypeRecipe("Q6_K").file_type() == 18);
  CHECK(TypeRecipe("IQ4_XS").file_type() == 30);
  CHECK(TypeRecipe("BF16").file_type() == 32);
}

TEST_CASE("an unknown type is refused with the names of the known ones") {
  for (const char* name : {"", "Q4", "q4_k_m", "Q4_K_M ", "Q4_K_L"}) {
    try {
      TypeRecipe{name};
      FAIL("expected an error for '" << name << "'");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      CHECK_THAT(error.what(), Catch::Contains("F32, F16, BF16, Q4_0") &&
                                   Catch::Contains("Q4_K_M, Q5_K_S, Q5_K_M, got '"));
    }
  }
}
