// Traits of the AVX2 tier (with FMA and F16C) for the matrix kernels: 8 rows a vector, bytes
// multiplied with maddubs into int16 and widened. What each name means is documented in
// docs/kernels.md.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace r1::kernels::avx2 {
namespace {

struct Isa {
  using F = __m256;
  using I = __m256i;
  using Pairs = I;
  static constexpr int kLanes = 8;

  /// False: products meet in int16 (pairs, widen).
  static constexpr bool kByteDot = false;
  static constexpr bool kSignedCodes = true;
  /// int32 that, read as a float, is 1.5 * 2^23: sums started there need no conversion.
  static constexpr std::int32_t kSumStart = 0x4b400000;
  /// Tile of the staged q8 kernel, in vectors x activation rows (bench/matmul_bench.cpp).
  static constexpr int kTileVecs = 2;
  static constexpr int kTileRows = 3;
  static constexpr int kDirectRows = 4;
  /// Rows of the float kernel's tile: 4 chains x 3 rows of one vector.
  static constexpr int kFloatRows = 3;
  /// Vectors of one pass over a panel for one row.
  static constexpr int kFloatVecs = 1;

  static F zero() { return _mm256_setzero_ps(); }
  static F broadcast(float x) { return _mm256_set1_ps(x); }
  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F sub(F a, F b) { return _mm256_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static F negate(F a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0F)); }
  static F to_float(I a) { return _mm256_cvtepi32_ps(a); }

  static F load_f32(const void* p) { return _mm256_loadu_ps(static_cast<const float*>(p)); }
  static F load_f16(const void* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
  }
  static F load_bf16(const void* p) {
    const __m128i bits = _mm_loadu_si128(static_cast<const __m128i*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  static void store(float* p, F a) { _mm256_storeu_ps(p, a); }
  /// The first `count` lanes; other memory is not touched and other lanes are zeros.
  static F load_first(const float* p, int count) { return _mm256_maskload_ps(p, first(count)); }
  static void store_first(float* p, F a, int count) { _mm256_maskstore_ps(p, first(count), a); }

  static I load(const void* p) { return _mm256_load_si256(static_cast<const __m256i*>(p)); }
  static void store(void* p, I a) { _mm256_store_si256(static_cast<__m256i*>(p), a); }
  static I bytes(int value) { return _mm256_set1_epi8(static_cast<char>(value)); }
  static I words(std::int32_t value) { return _mm256_set1_epi32(value); }
  /// The four bytes at p in every 32-bit lane.
  static I broadcast4(const void* p) {
    std::int32_t four;
    std::memcpy(&four, p, 4);
    return _mm256_set1_epi32(four);
  }
  /// The 4 activations of k-group kGroup as the dot takes them; `codes` are the block's 32.
  template <int kGroup>
  static I activations(const std::uint8_t* codes) {
    return broadcast4(codes + 4 * kGroup);
  }
  static I bits_and(I a, I b) { return _mm256_and_si256(a, b); }
  static I bits_xor(I a, I b) { return _mm256_xor_si256(a, b); }
  /// (a & mask) | b
  static I and_or(I a, I mask, I b) { return _mm256_or_si256(_mm256_and_si256(a, mask), b); }
  /// 16-bit lanes shifted; negative: to the left.
  template <int kBits>
  static I shift_right(I a) {
    if constexpr (kBits > 0) return _mm256_srli_epi16(a, kBits);
    if constexpr (kBits < 0) return _mm256_slli_epi16(a, -kBits);
    return a;
  }
  static I load_u8(const void* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
  }
  static I load_i8(const void* p) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
  }
  /// table[index] of 16 bytes, index bytes in [0, 16).
  static I lookup(const void* table, I index) {
    const __m128i entries = _mm_load_si128(static_cast<const __m128i*>(table));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(entries), index);
  }

  /// Sums of two neighbouring products in int16; w unsigned, x signed.
  static I pairs(I w, I x) { return _mm256_maddubs_epi16(w, x); }
  static I add_pairs(I sum, I w, I x) {
    sum = _mm256_add_epi16(sum, pairs(w, x));
    // GCC 12 would make all products first and spill them: a quarter of the prefill speed.
    __asm__("" : "+x"(sum));
    return sum;
  }
  /// The same of signed w: |w| times x with the sign of w.
  static I signed_pairs(I w, I x) { return pairs(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)); }
  /// sum + the two int16 of each lane.
  static I widen(I sum, I pairs16) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs16, _mm256_set1_epi16(1)));
  }
  /// scale * (sum - kSumStart), rounded once: offset = scale * 1.5 * 2^23 is exact.
  static F scale_sum(I sum, F scale, F offset) {
    return _mm256_fmsub_ps(scale, _mm256_castsi256_ps(sum), offset);
  }

  /// out[i] = kSumStart - offset * (sums[2i] + sums[2i+1]) for 8 blocks of 32.
  static void starts_of_32(const std::int16_t* sums, int offset, std::int32_t* out) {
    const __m256i weighted =
        _mm256_madd_epi16(load(sums), _mm256_set1_epi16(static_cast<short>(-offset)));
    store(out, _mm256_add_epi32(weighted, words(kSumStart)));
  }
  /// out[i] = kSumStart - offset * sums[i] for 16 blocks of 16.
  static void starts_of_16(const std::int16_t* sums, int offset, std::int32_t* out) {
    for (int i = 0; i < 16; i += 8) {
      store(out + i, _mm256_sub_epi32(words(kSumStart),
                                      _mm256_mullo_epi32(wide_sums(sums + i), words(offset))));
    }
  }
  /// out[i] = float(sums[2i] + sums[2i+1]) for 8 blocks of 32.
  static void sums_of_32(const std::int16_t* sums, float* out) {
    store(out, to_float(_mm256_madd_epi16(load(sums), _mm256_set1_epi16(1))));
  }
  /// out[i] = float(sums[i]) for 16 blocks of 16.
  static void sums_of_16(const std::int16_t* sums, float* out) {
    for (int i = 0; i < 16; i += 8) store(out + i, to_float(wide_sums(sums + i)));
  }

  /// Largest |x| of 32 values as bits; integer comparison, so a NaN wins whatever the order.
  static std::int32_t largest_bits(const float* x) {
    __m256i largest = _mm256_setzero_si256();
    for (int i = 0; i < 32; i += 8) {
      const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
      largest = _mm256_max_epi32(largest, _mm256_and_si256(bits, words(0x7fffffff)));
    }
    __m128i most =
        _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0x4e));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0xb1));
    return _mm_cvtsi128_si32(most);
  }
  /// codes[32] = x * inverse rounded to nearest even and held to +-127; sums[2] of 16 codes each.
  static void encode(const float* x, float inverse, std::int8_t* codes, std::int16_t* sums) {
    const __m256 factor = _mm256_set1_ps(inverse);
    for (int half = 0; half < 2; ++half, x += 16) {
      const __m256i low = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), factor));
      const __m256i high = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8), factor));
      // packs works within 128-bit lanes; the permutation restores the order.
      __m256i code = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
      code =
          _mm256_min_epi16(_mm256_max_epi16(code, _mm256_set1_epi16(-127)), _mm256_set1_epi16(127));
      const __m128i narrow =
          _mm_packs_epi16(_mm256_castsi256_si128(code), _mm256_extracti128_si256(code, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + 16 * half), narrow);
      const __m256i twos = _mm256_madd_epi16(code, _mm256_set1_epi16(1));
      __m128i fours =
          _mm_add_epi32(_mm256_castsi256_si128(twos), _mm256_extracti128_si256(twos, 1));
      fours = _mm_add_epi32(fours, _mm_shuffle_epi32(fours, 0x4e));
      fours = _mm_add_epi32(fours, _mm_shuffle_epi32(fours, 0xb1));
      sums[half] = static_cast<std::int16_t>(_mm_cvtsi128_si32(fours));
    }
  }

 private:
  static __m256i first(int count) {
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), index);
  }
  static __m256i wide_sums(const std::int16_t* sums) {
    return _mm256_cvtepi16_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(sums)));
  }
};

}  // namespace
}  // namespace r1::kernels::avx2
