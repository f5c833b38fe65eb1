// BF16: bfloat16 weights, the upper half of a binary32.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/half.hpp"

namespace r1::kernels {
namespace {

struct BF16 {
  static constexpr WeightType kType = WeightType::bf16;
  static constexpr FormatInfo kInfo = {"BF16", 30, 1, 2, ActivationEncoding::f32};
  static constexpr int kValueBytes = 2;

  static float decode(const std::uint8_t* value) noexcept { return bf16_to_f32(read_u16(value)); }
  template <class Isa>
  static typename Isa::F load(const std::uint8_t* values) noexcept {
    return Isa::load_bf16(values);
  }
};

}  // namespace
}  // namespace r1::kernels
