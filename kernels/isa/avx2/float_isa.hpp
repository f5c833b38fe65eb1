// Vector operations of the float32 kernels for AVX2 with FMA and F16C: 8 lanes. Arithmetic
// operators are those of the compiler's vector types.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace r1::kernels::avx2 {
namespace {

struct FloatIsa {
  using V = __m256;
  using D = __m256d;
  static constexpr int kWidth = 8;
  /// Register tile of attention: 6 vectors x 1 unit of 16 columns, 12 of the 16 registers.
  static constexpr int kTileRows = 6;
  static constexpr int kTileUnits = 1;
  /// Query vectors up to which narrow pages are converted in registers, again for every register
  /// tile.
  static constexpr int kDirectVectors = 7;

  static V load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, V v) { _mm256_storeu_ps(p, v); }
  /// f16 bits to float32, exact.
  static V load(const std::uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  /// float32 to f16 bits, round to nearest even.
  static void store(std::uint16_t* p, V v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  /// int8 codes to float32, and back to the nearest code, ties to even.
  static V load(const std::int8_t* p) {
    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static void store(std::int8_t* p, V v) {
    const __m256i words = _mm256_cvtps_epi32(v);
    const __m128i halves =
        _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(halves, halves));
  }
  /// The first n lanes from memory, 0 < n < kWidth, zeros in the others; touches nothing behind
  /// them.
  static V load_partial(const float* p, int n) { return _mm256_maskload_ps(p, lanes(0, n)); }
  static void store_partial(float* p, V v, int n) { _mm256_maskstore_ps(p, lanes(0, n), v); }

  static V broadcast(float x) { return _mm256_set1_ps(x); }
  /// a * b + c in one rounding.
  static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static V min(V a, V b) { return _mm256_min_ps(a, b); }
  static V max(V a, V b) { return _mm256_max_ps(a, b); }
  /// To the nearest integer, ties to even.
  static V round(V x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  /// p * 2^n for whole n whose result is a normal number.
  static V scale_by_power(V p, V n) {
    const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
  }
  /// a < b ? yes : no, lane by lane; NaN chooses `no`.
  static V select_less(V a, V b, V yes, V no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  /// Sum and maximum of all lanes, in an order of their own that never changes.
  static float sum(V v) {
    const __m128 four = _mm256_castps256_ps128(v) + _mm256_extractf128_ps(v, 1);
    const __m128 two = four + _mm_movehl_ps(four, four);
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  static float max_lane(V v) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }

  static D zero_double() { return _mm256_setzero_pd(); }
  /// Adds the squares of x's lower and upper half in double precision.
  static void add_squares(V x, D& low, D& high) {
    const D x_low = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    const D x_high = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    low = _mm256_fmadd_pd(x_low, x_low, low);
    high = _mm256_fmadd_pd(x_high, x_high, high);
  }
  static double sum(D low, D high) {
    const D four = low + high;
    const __m128d two = _mm256_castpd256_pd128(four) + _mm256_extractf128_pd(four, 1);
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }

 private:
  static __m256i lanes(int begin, int end) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_and_si256(_mm256_cmpgt_epi32(lane, _mm256_set1_epi32(begin - 1)),
                            _mm256_cmpgt_epi32(_mm256_set1_epi32(end), lane));
  }
};

}  // namespace
}  // namespace r1::kernels::avx2
