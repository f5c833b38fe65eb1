// Vector operations of the float32 kernels for ARM: NEON of ARMv8.0, 4 lanes, with fma and f16
// conversion. Arithmetic operators are those of the compiler's vector types.
#pragma once

#include <arm_neon.h>

#include <cstdint>

namespace r1::kernels::neon {
namespace {

struct FloatIsa {
  using V = float32x4_t;
  using D = float64x2_t;
  static constexpr int kWidth = 4;
  /// Register tile of attention: 6 vectors x 1 unit of 16 columns, 24 of the 32 registers.
  static constexpr int kTileRows = 6;
  static constexpr int kTileUnits = 1;
  /// Query vectors up to which narrow pages are converted in registers, again for every register
  /// tile.
  static constexpr int kDirectVectors = 6;

  static V load(const float* p) { return vld1q_f32(p); }
  static void store(float* p, V v) { vst1q_f32(p, v); }
  /// f16 bits to float32, exact.
  static V load(const std::uint16_t* p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
  /// float32 to f16 bits, round to nearest even.
  static void store(std::uint16_t* p, V v) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v))); }
  /// int8 codes to float32, and back to the nearest code, ties to even.
  static V load(const std::int8_t* p) {
    std::uint32_t codes;
    __builtin_memcpy(&codes, p, sizeof(codes));
    const int16x8_t halves = vmovl_s8(vcreate_s8(codes));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(halves)));
  }
  static void store(std::int8_t* p, V v) {
    const int16x4_t halves = vqmovn_s32(vcvtnq_s32_f32(v));
    const int8x8_t codes = vqmovn_s16(vcombine_s16(halves, halves));
    const std::uint32_t bits = vget_lane_u32(vreinterpret_u32_s8(codes), 0);
    __builtin_memcpy(p, &bits, sizeof(bits));
  }
  /// The first n lanes from memory, 0 < n < kWidth, zeros in the others; touches nothing behind
  /// them.
  static V load_partial(const float* p, int n) {
    float lanes[kWidth] = {};
    for (int i = 0; i < n; ++i) lanes[i] = p[i];
    return vld1q_f32(lanes);
  }
  static void store_partial(float* p, V v, int n) {
    float lanes[kWidth];
    vst1q_f32(lanes, v);
    for (int i = 0; i < n; ++i) p[i] = lanes[i];
  }

  static V broadcast(float x) { return vdupq_n_f32(x); }
  /// a * b + c in one rounding.
  static V fma(V a, V b, V c) { return vfmaq_f32(c, a, b); }
  static V min(V a, V b) { return vminq_f32(a, b); }
  static V max(V a, V b) { return vmaxq_f32(a, b); }
  /// To the nearest integer, ties to even.
  static V round(V x) { return vrndnq_f32(x); }
  /// p * 2^n for whole n whose result is a normal number.
  static V scale_by_power(V p, V n) {
    const int32x4_t exponent = vshlq_n_s32(vcvtq_s32_f32(n), 23);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), exponent));
  }
  /// a < b ? yes : no, lane by lane; NaN chooses `no`.
  static V select_less(V a, V b, V yes, V no) { return vbslq_f32(vcltq_f32(a, b), yes, no); }
  /// Lanes [begin, end) of v, `other` elsewhere; the bounds may lie outside the vector.
  static V keep_lanes(V v, int begin, int end, V other) {
    const int32x4_t lane = {0, 1, 2, 3};
    const uint32x4_t keep =
        vandq_u32(vcgeq_s32(lane, vdupq_n_s32(begin)), vcltq_s32(lane, vdupq_n_s32(end)));
    return vbslq_f32(keep, v, other);
  }
  /// Sum and maximum of all lanes, in an order of their own that never changes.
  static float sum(V v) { return vaddvq_f32(v); }
  static float max_lane(V v) { return vmaxvq_f32(v); }

  static D zero_double() { return vdupq_n_f64(0.0); }
  /// Adds the squares of x's lower and upper half in double precision.
  static void add_squares(V x, D& low, D& high) {
    const D x_low = vcvt_f64_f32(vget_low_f32(x));
    const D x_high = vcvt_high_f64_f32(x);
    low = vfmaq_f64(low, x_low, x_low);
    high = vfmaq_f64(high, x_high, x_high);
  }
  static double sum(D low, D high) { return vaddvq_f64(vaddq_f64(low, high)); }
};

}  // namespace
}  // namespace r1::kernels::neon
