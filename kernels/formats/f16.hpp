// F16: IEEE binary16 weights.
#pragma once

#include "kernels/api/weight_type.hpp"
#include "kernels/formats/half.hpp"

namespace r1::kernels {
namespace {

struct F16 {
  static constexpr WeightType kType = WeightType::f16;
  static constexpr FormatInfo kInfo = {"F16", 1, 1, 2, ActivationEncoding::f32};
  static constexpr int kValueBytes = 2;

  static float decode(const std::uint8_t* value) noexcept { return read_f16(value); }
  template <class Isa>
  static typename Isa::F load(const std::uint8_t* values) noexcept {
    return Isa::load_f16(values);
  }
};

}  // namespace
}  // namespace r1::kernels
