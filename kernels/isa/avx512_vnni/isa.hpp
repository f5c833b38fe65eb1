// Traits of the AVX-512 tier with VNNI for the matrix kernels: 16 rows a vector, bytes multiplied
// and added straight into int32 (vpdpbusd). What each name means is documented in docs/kernels.md.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace r1::kernels::avx512_vnni {
namespace {

struct Isa {
  using F = __m512;
  using I = __m512i;
  static constexpr int kLanes = 16;

  /// True: dot() takes unsigned codes into int32 without an int16 step, and signed codes come with
  /// a bias of 128.
  static constexpr bool kByteDot = true;
  static constexpr bool kSignedCodes = false;
  /// int32 that, read as a float, is 1.5 * 2^23: sums started there need no conversion.
  static constexpr std::int32_t kSumStart = 0x4b400000;
  /// Tile of the staged q8 kernel, in vectors x activation rows (bench/matmul_bench.cpp).
  static constexpr int kTileVecs = 2;
  static constexpr int kTileRows = 6;
  static constexpr int kDirectRows = 8;
  /// Rows of the float kernel's tile: 4 chains x 6 rows of one vector.
  static constexpr int kFloatRows = 6;
  /// Vectors of one pass over a panel for one row.
  static constexpr int kFloatVecs = 1;

  static F zero() { return _mm512_setzero_ps(); }
  static F broadcast(float x) { return _mm512_set1_ps(x); }
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F negate(F a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0F)); }
  static F to_float(I a) { return _mm512_cvtepi32_ps(a); }

  static F load_f32(const void* p) { return _mm512_loadu_ps(p); }
  static F load_f16(const void* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
  }
  static F load_bf16(const void* p) {
    const __m256i bits = _mm256_loadu_si256(static_cast<const __m256i*>(p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  static void store(float* p, F a) { _mm512_storeu_ps(p, a); }
  /// The first `count` lanes; other memory is not touched and other lanes are zeros.
  static F load_first(const float* p, int count) { return _mm512_maskz_loadu_ps(first(count), p); }
  static void store_first(float* p, F a, int count) { _mm512_mask_storeu_ps(p, first(count), a); }

  static I load(const void* p) { return _mm512_load_si512(p); }
  static void store(void* p, I a) { _mm512_store_si512(p, a); }
  static I bytes(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }
  static I words(std::int32_t value) { return _mm512_set1_epi32(value); }
  /// The four bytes at p in every 32-bit lane.
  static I broadcast4(const void* p) {
    std::int32_t four;
    std::memcpy(&four, p, 4);
    return _mm512_set1_epi32(four);
  }
  /// The 4 activations of k-group kGroup as the dot takes them; `codes` are the block's 32.
  template <int kGroup>
  static I activations(const std::uint8_t* codes) {
    return broadcast4(codes + 4 * kGroup);
  }
  static I bits_and(I a, I b) { return _mm512_and_si512(a, b); }
  /// (a & mask) | b
  static I and_or(I a, I mask, I b) { return _mm512_ternarylogic_epi32(a, mask, b, 0xea); }
  /// 16-bit lanes shifted; negative: to the left.
  template <int kBits>
  static I shift_right(I a) {
    if constexpr (kBits > 0) return _mm512_srli_epi16(a, kBits);
    if constexpr (kBits < 0) return _mm512_slli_epi16(a, -kBits);
    return a;
  }
  static I load_u8(const void* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  }
  static I load_i8(const void* p) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  }
  /// table[index] of 16 bytes, index bytes in [0, 16).
  static I lookup(const void* table, I index) {
    const __m128i entries = _mm_load_si128(static_cast<const __m128i*>(table));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(entries), index);
  }

  /// sum += the four products of unsigned w and signed x in each lane.
  static I dot(I sum, I w, I x) { return _mm512_dpbusd_epi32(sum, w, x); }
  /// scale * (sum - kSumStart), rounded once: offset = scale * 1.5 * 2^23 is exact.
  static F scale_sum(I sum, F scale, F offset) {
    return _mm512_fmsub_ps(scale, _mm512_castsi512_ps(sum), offset);
  }

  /// out[i] = kSumStart - offset * (sums[2i] + sums[2i+1]) for 8 blocks of 32.
  static void starts_of_32(const std::int16_t* sums, int offset, std::int32_t* out) {
    const __m256i pairs = _mm256_load_si256(reinterpret_cast<const __m256i*>(sums));
    const __m256i weighted =
        _mm256_madd_epi16(pairs, _mm256_set1_epi16(static_cast<short>(-offset)));
    _mm256_store_si256(reinterpret_cast<__m256i*>(out),
                       _mm256_add_epi32(weighted, _mm256_set1_epi32(kSumStart)));
  }
  /// out[i] = kSumStart - offset * sums[i] for 16 blocks of 16.
  static void starts_of_16(const std::int16_t* sums, int offset, std::int32_t* out) {
    const __m512i wide = wide_sums(sums);
    _mm512_store_si512(out, _mm512_sub_epi32(_mm512_set1_epi32(kSumStart),
                                             _mm512_mullo_epi32(wide, _mm512_set1_epi32(offset))));
  }
  /// out[i] = float(sums[2i] + sums[2i+1]) for 8 blocks of 32.
  static void sums_of_32(const std::int16_t* sums, float* out) {
    const __m256i pairs = _mm256_load_si256(reinterpret_cast<const __m256i*>(sums));
    _mm256_store_ps(out, _mm256_cvtepi32_ps(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1))));
  }
  /// out[i] = float(sums[i]) for 16 blocks of 16.
  static void sums_of_16(const std::int16_t* sums, float* out) {
    _mm512_store_ps(out, _mm512_cvtepi32_ps(wide_sums(sums)));
  }

  /// Largest |x| of 32 values as bits; integer comparison, so a NaN wins whatever the order.
  static std::int32_t largest_bits(const float* x) {
    const __m512i mask = _mm512_set1_epi32(0x7fffffff);
    const __m512i a = _mm512_and_si512(_mm512_loadu_si512(x), mask);
    const __m512i b = _mm512_and_si512(_mm512_loadu_si512(x + 16), mask);
    return _mm512_reduce_max_epi32(_mm512_max_epi32(a, b));
  }
  /// codes[32] = x * inverse rounded to nearest even and held to +-127; sums[2] of 16 codes each.
  static void encode(const float* x, float inverse, std::int8_t* codes, std::int16_t* sums) {
    const __m512 factor = _mm512_set1_ps(inverse);
    for (int half = 0; half < 2; ++half) {
      const __m512i rounded =
          _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + 16 * half), factor));
      const __m512i code = _mm512_min_epi32(_mm512_max_epi32(rounded, _mm512_set1_epi32(-127)),
                                            _mm512_set1_epi32(127));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + 16 * half), _mm512_cvtepi32_epi8(code));
      sums[half] = static_cast<std::int16_t>(_mm512_reduce_add_epi32(code));
    }
  }

 private:
  static __mmask16 first(int count) { return static_cast<__mmask16>((1U << count) - 1U); }
  static __m512i wide_sums(const std::int16_t* sums) {
    return _mm512_cvtepi16_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(sums)));
  }
};

}  // namespace
}  // namespace r1::kernels::avx512_vnni
