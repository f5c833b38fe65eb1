// Vector operations of the float32 kernels for SSE4.2: 4 lanes, no fma, and f16 by integer
// arithmetic, because F16C came with AVX. Arithmetic operators are those of the compiler's vector
// types.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace r1::kernels::baseline {
namespace {

struct FloatIsa {
  using V = __m128;
  using D = __m128d;
  static constexpr int kWidth = 4;
  /// Register tile of attention: 2 vectors x 1 unit of 16 columns, 8 of the 16 registers, so that
  /// the other operands and the products have room.
  static constexpr int kTileRows = 2;
  static constexpr int kTileUnits = 1;
  /// Query vectors up to which narrow pages are converted in registers, again for every register
  /// tile.
  static constexpr int kDirectVectors = 2;

  static V load(const float* p) { return _mm_loadu_ps(p); }
  static void store(float* p, V v) { _mm_storeu_ps(p, v); }

  /// f16 bits to float32, exact, the same bits as F16C's (signalling NaN becomes quiet). Exponent
  /// and mantissa move into place and the bias is corrected by an integer addition; subnormals are
  /// normalised by a float subtraction, as in F. Giesen's half_to_float (gist 2156668).
  static V load(const std::uint16_t* p) {
    const __m128i half = _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m128i magnitude = _mm_and_si128(half, _mm_set1_epi32(0x7fff));
    const __m128i sign = _mm_slli_epi32(_mm_xor_si128(half, magnitude), 16);
    const __m128i shifted = _mm_slli_epi32(magnitude, 13);
    const __m128i normal = _mm_add_epi32(shifted, _mm_set1_epi32((127 - 15) << 23));
    const __m128i is_special = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff));
    const __m128i is_nan = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7c00));
    const __m128i special = _mm_or_si128(_mm_and_si128(is_special, _mm_set1_epi32(0x7f800000)),
                                         _mm_and_si128(is_nan, _mm_set1_epi32(0x00400000)));
    const __m128i is_subnormal = _mm_cmpgt_epi32(_mm_set1_epi32(0x0400), magnitude);
    // 2^-14 * (1 + m / 2^10) - 2^-14 = m * 2^-24.
    const __m128i smallest_normal = _mm_set1_epi32(113 << 23);
    const V subnormal = _mm_castsi128_ps(_mm_or_si128(shifted, smallest_normal)) -
                        _mm_castsi128_ps(smallest_normal);
    const V value = _mm_blendv_ps(_mm_castsi128_ps(_mm_or_si128(normal, special)), subnormal,
                                  _mm_castsi128_ps(is_subnormal));
    return _mm_or_ps(value, _mm_castsi128_ps(sign));
  }

  /// float32 to f16 bits, round to nearest even, the same bits as F16C's.
  static void store(std::uint16_t* p, V v) {
    const __m128i bits = _mm_castps_si128(v);
    const __m128i magnitude = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
    const __m128i sign = _mm_srli_epi32(_mm_xor_si128(bits, magnitude), 16);
    // Normal: add half of the last kept bit (less one if that bit is even), then cut. The carry
    // into the exponent is right, also from 65504 + 16 on, where it makes infinity.
    const __m128i odd = _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(1));
    const __m128i rounded = _mm_add_epi32(_mm_add_epi32(magnitude, _mm_set1_epi32(0xfff)), odd);
    const __m128i normal =
        _mm_srli_epi32(_mm_sub_epi32(rounded, _mm_set1_epi32((127 - 15) << 23)), 13);
    // Subnormal: a float addition of 0.5, whose last bit is 2^-24, rounds in the right place.
    const __m128i half_bits = _mm_set1_epi32(126 << 23);
    const V shifted = _mm_castsi128_ps(magnitude) + _mm_castsi128_ps(half_bits);
    const __m128i subnormal = _mm_sub_epi32(_mm_castps_si128(shifted), half_bits);
    const __m128i is_subnormal = _mm_cmpgt_epi32(_mm_set1_epi32(113 << 23), magnitude);
    const __m128i is_large = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32((143 << 23) - 1));
    const __m128i is_nan = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7f800000));
    const __m128i payload =
        _mm_or_si128(_mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(0x03ff)),
                     _mm_set1_epi32(0x0200));
    const __m128i special = _mm_or_si128(_mm_set1_epi32(0x7c00), _mm_and_si128(is_nan, payload));
    __m128i half = _mm_blendv_epi8(normal, subnormal, is_subnormal);
    half = _mm_or_si128(_mm_blendv_epi8(half, special, is_large), sign);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi32(half, half));
  }

  /// int8 codes to float32, and back to the nearest code, ties to even.
  static V load(const std::int8_t* p) {
    return _mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_loadu_si32(p)));
  }
  static void store(std::int8_t* p, V v) {
    const __m128i halves = _mm_packs_epi32(_mm_cvtps_epi32(v), _mm_setzero_si128());
    _mm_storeu_si32(p, _mm_packs_epi16(halves, halves));
  }
  /// The first n lanes from memory, 0 < n < kWidth, zeros in the others; touches nothing behind
  /// them.
  static V load_partial(const float* p, int n) {
    alignas(16) float lanes[kWidth] = {};
    for (int i = 0; i < n; ++i) lanes[i] = p[i];
    return _mm_load_ps(lanes);
  }
  static void store_partial(float* p, V v, int n) {
    alignas(16) float lanes[kWidth];
    _mm_store_ps(lanes, v);
    for (int i = 0; i < n; ++i) p[i] = lanes[i];
  }

  static V broadcast(float x) { return _mm_set1_ps(x); }
  /// a * b + c in two roundings: this tier has no fma.
  static V fma(V a, V b, V c) { return a * b + c; }
  static V min(V a, V b) { return _mm_min_ps(a, b); }
  static V max(V a, V b) { return _mm_max_ps(a, b); }
  /// To the nearest integer, ties to even.
  static V round(V x) { return _mm_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  /// p * 2^n for whole n whose result is a normal number.
  static V scale_by_power(V p, V n) {
    const __m128i exponent = _mm_slli_epi32(_mm_cvtps_epi32(n), 23);
    return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(p), exponent));
  }
  /// a < b ? yes : no, lane by lane; NaN chooses `no`.
  static V select_less(V a, V b, V yes, V no) { return _mm_blendv_ps(no, yes, _mm_cmplt_ps(a, b)); }
  /// Sum and maximum of all lanes, in an order of their own that never changes.
  static float sum(V v) {
    const V two = v + _mm_movehl_ps(v, v);
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  static float max_lane(V v) {
    const V two = _mm_max_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }

  static D zero_double() { return _mm_setzero_pd(); }
  /// Adds the squares of x's lower and upper half in double precision.
  static void add_squares(V x, D& low, D& high) {
    const D x_low = _mm_cvtps_pd(x);
    const D x_high = _mm_cvtps_pd(_mm_movehl_ps(x, x));
    low = x_low * x_low + low;
    high = x_high * x_high + high;
  }
  static double sum(D low, D high) {
    const D two = low + high;
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
};

}  // namespace
}  // namespace r1::kernels::baseline
