// The facts of the weight types against ggml's own numbers (ggml.h: enum ggml_type, block sizes,
// ggml-common.h: fields).
#include <catch2/catch.hpp>
#include <string>

#include "kernels/api/weight_type.hpp"

namespace r1::kernels {
namespace {

struct Fact {
  WeightType type;
  std::string name;
  std::uint32_t id;
  int values;
  int bytes;
  int scale_at = 0;
  int minimum_at = -1;
};

const Fact kFacts[] = {
    {WeightType::f32, "F32", 0, 1, 4},
    {WeightType::f16, "F16", 1, 1, 2},
    {WeightType::bf16, "BF16", 30, 1, 2},
    {WeightType::q4_0, "Q4_0", 2, 32, 18},
    {WeightType::q4_1, "Q4_1", 3, 32, 20, 0, 2},
    {WeightType::q5_0, "Q5_0", 6, 32, 22},
    {WeightType::q5_1, "Q5_1", 7, 32, 24, 0, 2},
    {WeightType::q8_0, "Q8_0", 8, 32, 34},
    {WeightType::q2_k, "Q2_K", 10, 256, 84, 80, 82},
    {WeightType::q3_k, "Q3_K", 11, 256, 110, 108},
    {WeightType::q4_k, "Q4_K", 12, 256, 144, 0, 2},
    {WeightType::q5_k, "Q5_K", 13, 256, 176, 0, 2},
    {WeightType::q6_k, "Q6_K", 14, 256, 210, 208},
    {WeightType::iq4_nl, "IQ4_NL", 20, 32, 18},
    {WeightType::iq4_xs, "IQ4_XS", 23, 256, 136},
    {WeightType::tq2_0, "TQ2_0", 35, 256, 66, 64},
};

}  // namespace

TEST_CASE("format_info gives the numbers of GGUF", "[format_info]") {
  CHECK(std::size(kFacts) == kWeightTypeCount);
  for (const Fact& fact : kFacts) {
    INFO(fact.name);
    const FormatInfo& info = format_info(fact.type);
    CHECK(info.name == fact.name);
    CHECK(info.gguf_id == fact.id);
    CHECK(info.block_values == fact.values);
    CHECK(info.block_bytes == fact.bytes);
    CHECK(info.scale_at == fact.scale_at);
    CHECK(info.minimum_at == fact.minimum_at);
    CHECK(info.encoding == (fact.values == 1 ? ActivationEncoding::f32 : ActivationEncoding::q8));
    WeightType found = fact.type == WeightType::f32 ? WeightType::f16 : WeightType::f32;
    CHECK(weight_type_from_gguf(fact.id, found));
    CHECK(found == fact.type);
  }
}

TEST_CASE("GGUF ids without kernels are refused", "[format_info]") {
  // Removed types, types of no weights (I8, I32, F64), types without kernels, and nonsense.
  for (const std::uint32_t id : {4U, 5U, 9U, 15U, 16U, 19U, 24U, 26U, 28U, 34U, 39U, 0xffffffffU}) {
    WeightType found = WeightType::q6_k;
    CHECK_FALSE(weight_type_from_gguf(id, found));
    CHECK(found == WeightType::q6_k);
  }
}

}  // namespace r1::kernels
