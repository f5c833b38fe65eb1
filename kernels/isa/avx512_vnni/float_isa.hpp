// Vector operations of the float32 kernels for AVX-512 (F, DQ, VL): 16 lanes. Arithmetic operators
// are those of the compiler's vector types. xsimd 8.1 has neither fma nor f16 for AVX-512, so
// intrinsics do it all.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace r1::kernels::avx512_vnni {
namespace {

struct FloatIsa {
  using V = __m512;
  using D = __m512d;
  static constexpr int kWidth = 16;
  /// Register tile of attention: 12 vectors x 2 units of 16 columns, 24 of the 32 registers.
  /// Against 6 x 4 a pair of pages stays in L1, and 7 heads are one tile.
  static constexpr int kTileRows = 12;
  static constexpr int kTileUnits = 2;
  /// Query vectors up to which narrow pages are converted in registers, again for every register
  /// tile.
  static constexpr int kDirectVectors = 12;

  static V load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, V v) { _mm512_storeu_ps(p, v); }
  /// f16 bits to float32, exact.
  static V load(const std::uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  /// float32 to f16 bits, round to nearest even.
  static void store(std::uint16_t* p, V v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  /// int8 codes to float32, and back to the nearest code, ties to even.
  static V load(const std::int8_t* p) {
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static void store(std::int8_t* p, V v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(v)));
  }
  /// The first n lanes from memory, 0 < n < kWidth, zeros in the others; touches nothing behind
  /// them.
  static V load_partial(const float* p, int n) { return _mm512_maskz_loadu_ps(first(n), p); }
  static void store_partial(float* p, V v, int n) { _mm512_mask_storeu_ps(p, first(n), v); }

  static V broadcast(float x) { return _mm512_set1_ps(x); }
  /// a * b + c in one rounding.
  static V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static V min(V a, V b) { return _mm512_min_ps(a, b); }
  static V max(V a, V b) { return _mm512_max_ps(a, b); }
  /// To the nearest integer, ties to even.
  static V round(V x) {
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  /// p * 2^n for whole n whose result is a normal number.
  static V scale_by_power(V p, V n) { return _mm512_scalef_ps(p, n); }
  /// a < b ? yes : no, lane by lane; NaN chooses `no`.
  static V select_less(V a, V b, V yes, V no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
  }
  /// Sum and maximum of all lanes, in an order of their own that never changes.
  static float sum(V v) { return _mm512_reduce_add_ps(v); }
  static float max_lane(V v) { return _mm512_reduce_max_ps(v); }

  static D zero_double() { return _mm512_setzero_pd(); }
  /// Adds the squares of x's lower and upper half in double precision.
  static void add_squares(V x, D& low, D& high) {
    const D x_low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    const D x_high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    low = _mm512_fmadd_pd(x_low, x_low, low);
    high = _mm512_fmadd_pd(x_high, x_high, high);
  }
  static double sum(D low, D high) { return _mm512_reduce_add_pd(low + high); }

 private:
  static __mmask16 first(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
};

}  // namespace
}  // namespace r1::kernels::avx512_vnni
