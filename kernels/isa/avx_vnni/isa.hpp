// Traits of the AVX-VNNI tier for the matrix kernels: the AVX2 tier's, but bytes are multiplied and
// added straight into int32 (VEX vpdpbusd). Alder Lake and later, Zen 5.
#pragma once

#include "kernels/isa/avx2/isa.hpp"

namespace r1::kernels::avx_vnni {
namespace {

struct Isa : avx2::Isa {
  /// True: dot() takes unsigned codes into int32 without an int16 step, and signed codes come with
  /// a bias of 128.
  static constexpr bool kByteDot = true;
  static constexpr bool kSignedCodes = false;
  static constexpr int kTileRows = 4;
  /// sum += the four products of unsigned w and signed x in each lane.
  static I dot(I sum, I w, I x) { return _mm256_dpbusd_avx_epi32(sum, w, x); }
};

}  // namespace
}  // namespace r1::kernels::avx_vnni
