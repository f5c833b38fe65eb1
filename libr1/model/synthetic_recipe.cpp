// The table of types and mixtures, and the rules of the mixtures.
#include "libr1/model/synthetic_recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "libr1/gguf/message.hpp"
#include "r1/error.hpp"

namespace r1::model {
namespace {

using kernels::WeightType;

/// The type of a matrix within the layers.
using LayerRule = WeightType (*)(WeightType base, const MatrixPlace& place);

/// The first and the last eighth of the layers, and every third between.
bool use_more_bits(const MatrixPlace& place) {
  const std::int64_t eighth = place.layers / 8;
  return place.layer < eighth || place.layer >= 7 * place.layers / 8 ||
         (place.layer - eighth) % 3 == 2;
}

WeightType keep_base(WeightType base, const MatrixPlace&) { return base; }

WeightType medium(WeightType base, const MatrixPlace& place) {
  const bool raised = place.role == MatrixRole::attn_v || place.role == MatrixRole::ffn_down;
  return raised && use_more_bits(place) ? WeightType::q6_k : base;
}

WeightType small_4(WeightType base, const MatrixPlace& place) {
  const bool raised = (place.role == MatrixRole::attn_v && place.layer < 4) ||
                      (place.role == MatrixRole::ffn_down && place.layer < place.layers / 8);
  return raised ? WeightType::q5_k : base;
}

WeightType medium_3(WeightType base, const MatrixPlace& place) {
  switch (place.role) {
    case MatrixRole::attn_v:
      return place.layer < 2 ? WeightType::q5_k : WeightType::q4_k;
    case MatrixRole::ffn_down:
      return place.layer < place.layers / 16 ? WeightType::q5_k : WeightType::q4_k;
    case MatrixRole::attn_output:
      return WeightType::q4_k;
    default:
      return base;
  }
}

struct Row {
  const char* name;
  WeightType base;
  std::uint32_t file_type;
  LayerRule rule;  ///< null: all matrices are of the base type
};

constexpr Row kRows[] = {
    {"F32", WeightType::f32, 0, nullptr},        {"F16", WeightType::f16, 1, nullptr},
    {"BF16", WeightType::bf16, 32, nullptr},     {"Q4_0", WeightType::q4_0, 2, nullptr},
    {"Q4_1", WeightType::q4_1, 3, nullptr},      {"Q5_0", WeightType::q5_0, 8, nullptr},
    {"Q5_1", WeightType::q5_1, 9, nullptr},      {"Q8_0", WeightType::q8_0, 7, nullptr},
    {"Q2_K", WeightType::q2_k, 10, nullptr},     {"Q3_K", WeightType::q3_k, 11, nullptr},
    {"Q4_K", WeightType::q4_k, 14, nullptr},     {"Q5_K", WeightType::q5_k, 16, nullptr},
    {"Q6_K", WeightType::q6_k, 18, nullptr},     {"IQ4_NL", WeightType::iq4_nl, 25, nullptr},
    {"IQ4_XS", WeightType::iq4_xs, 30, nullptr}, {"Q3_K_M", WeightType::q3_k, 12, medium_3},
    {"Q4_K_S", WeightType::q4_k, 14, small_4},   {"Q4_K_M", WeightType::q4_k, 15, medium},
    {"Q5_K_S", WeightType::q5_k, 16, keep_base}, {"Q5_K_M", WeightType::q5_k, 17, medium},
};

/// tensor_type_fallback() of llama-quant.cpp.
WeightType fitting(WeightType type, std::int64_t k) {
  const auto fits = [k](WeightType candidate) {
    return k % kernels::format_info(candidate).block_values == 0;
  };
  if (fits(type)) return type;
  WeightType smaller = type;
  switch (type) {
    case WeightType::q2_k:
    case WeightType::q3_k:
      smaller = WeightType::q4_0;
      break;
    case WeightType::q4_k:
      smaller = WeightType::q5_0;
      break;
    case WeightType::q5_k:
      smaller = WeightType::q5_1;
      break;
    case WeightType::q6_k:
      smaller = WeightType::q8_0;
      break;
    case WeightType::iq4_xs:
      smaller = WeightType::iq4_nl;
      break;
    default:
      break;
  }
  return fits(smaller) ? smaller : WeightType::f16;
}

}  // namespace

TypeRecipe::TypeRecipe(std::string_view name) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& candidate) { return name == candidate.name; });
  if (row == std::end(kRows)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("synthetic model: type: expected one of {}, got {}",
                            fmt::join(names(), ", "), gguf::quote_name(name)));
  }
  index_ = static_cast<std::size_t>(row - std::begin(kRows));
}

std::vector<std::string> TypeRecipe::names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

WeightType TypeRecipe::type_of(const MatrixPlace& place) const {
  const Row& row = kRows[index_];
  WeightType type = row.base;
  if (row.rule != nullptr && place.role == MatrixRole::output) {
    type = WeightType::q6_k;
  } else if (row.rule != nullptr && place.role != MatrixRole::embedding) {
    type = row.rule(row.base, place);
  }
  return fitting(type, place.k);
}

std::uint32_t TypeRecipe::file_type() const { return kRows[index_].file_type; }

}  // namespace r1::model
