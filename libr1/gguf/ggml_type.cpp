// The type numbers of ggml/include/ggml.h (enum ggml_type), those it has dropped included.
#include "libr1/gguf/ggml_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/api/weight_type.hpp"

namespace r1::gguf {
namespace {

constexpr std::array<std::pair<std::uint32_t, const char*>, 42> kTypes = {{
    {0, "F32"},     {1, "F16"},         {2, "Q4_0"},        {3, "Q4_1"},        {4, "Q4_2"},
    {5, "Q4_3"},    {6, "Q5_0"},        {7, "Q5_1"},        {8, "Q8_0"},        {9, "Q8_1"},
    {10, "Q2_K"},   {11, "Q3_K"},       {12, "Q4_K"},       {13, "Q5_K"},       {14, "Q6_K"},
    {15, "Q8_K"},   {16, "IQ2_XXS"},    {17, "IQ2_XS"},     {18, "IQ3_XXS"},    {19, "IQ1_S"},
    {20, "IQ4_NL"}, {21, "IQ3_S"},      {22, "IQ2_S"},      {23, "IQ4_XS"},     {24, "I8"},
    {25, "I16"},    {26, "I32"},        {27, "I64"},        {28, "F64"},        {29, "IQ1_M"},
    {30, "BF16"},   {31, "Q4_0_4_4"},   {32, "Q4_0_4_8"},   {33, "Q4_0_8_8"},   {34, "TQ1_0"},
    {35, "TQ2_0"},  {36, "IQ4_NL_4_4"}, {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"}, {39, "MXFP4"},
    {40, "NVFP4"},  {41, "Q1_0"},
}};

}  // namespace

std::string describe_ggml_type(std::uint32_t id) {
  const auto at =
      std::find_if(kTypes.begin(), kTypes.end(), [id](const auto& row) { return row.first == id; });
  if (at == kTypes.end()) return fmt::format("ggml type {}, which no known format has", id);
  return fmt::format("{} (ggml type {})", at->second, id);
}

std::string supported_ggml_types() {
  std::string out;
  for (int i = 0; i < kernels::kWeightTypeCount; ++i) {
    if (i > 0) out += ", ";
    out += kernels::format_info(static_cast<kernels::WeightType>(i)).name;
  }
  return out;
}

}  // namespace r1::gguf
