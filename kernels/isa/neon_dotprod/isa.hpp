// Traits of the ARM tier with dot products (FEAT_DotProd, Cortex-A76 and later) for the matrix
// kernels: the NEON tier's, but bytes are multiplied and added straight into int32 (sdot).
#pragma once

#include "kernels/isa/neon/isa.hpp"

namespace r1::kernels::neon_dotprod {
namespace {

struct Isa : neon::Isa {
  /// True: dot() takes signed bytes into int32 without an int16 step.
  static constexpr bool kByteDot = true;
  /// Tile of the staged q8 kernel, in vectors x activation rows: 8 dots, 8 float sums, 4 registers
  /// of activations, 2 of codes. GCC 12 spills with 2 x 5 and 3 x 3 (docs/kernels.md has the
  /// counts).
  static constexpr int kTileVecs = 2;
  static constexpr int kTileRows = 4;
  static constexpr int kDirectRows = 4;

  /// 16 activations, of which a dot takes 4: sdot by element needs no broadcast.
  template <int kLane>
  struct Element {
    int8x16_t codes;
  };
  /// K-groups 4 i to 4 i + 3 share one load.
  template <int kGroup>
  static Element<kGroup % 4> activations(const std::uint8_t* codes) {
    return {s8(load(codes + kGroup / 4 * 16))};
  }
  /// sum += the four products of signed w and signed x in each lane.
  template <int kLane>
  static I dot(I sum, I w, Element<kLane> x) {
    return vreinterpretq_u8_s32(vdotq_laneq_s32(s32(sum), s8(w), x.codes, kLane));
  }
};

}  // namespace
}  // namespace r1::kernels::neon_dotprod
