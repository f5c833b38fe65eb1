// F32: IEEE binary32 weights, as they are.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/half.hpp"

namespace r1::kernels {
namespace {

struct F32 {
  static constexpr WeightType kType = WeightType::f32;
  static constexpr FormatInfo kInfo = {"F32", 0, 1, 4, ActivationEncoding::f32};
  static constexpr int kValueBytes = 4;

  static float decode(const std::uint8_t* value) noexcept {
    float out;
    std::memcpy(&out, value, 4);
    return out;
  }
  template <class Isa>
  static typename Isa::F load(const std::uint8_t* values) noexcept {
    return Isa::load_f32(values);
  }
};

}  // namespace
}  // namespace r1::kernels
