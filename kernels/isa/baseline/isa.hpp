// Traits of the x86 baseline tier (SSE4.2, no AVX, no FMA) for the matrix kernels: 4 rows a vector,
// bytes multiplied with maddubs into int16 and widened. What each name means is documented in
// docs/kernels.md.
#pragma once

#include <nmmintrin.h>

#include <cstdint>
#include <cstring>

namespace r1::kernels::baseline {
namespace {

struct Isa {
  using F = __m128;
  using I = __m128i;
  using Pairs = I;
  static constexpr int kLanes = 4;

  /// False: products meet in int16 (pairs, widen).
  static constexpr bool kByteDot = false;
  static constexpr bool kSignedCodes = true;
  /// Without fma a sum has to be converted, so it starts at its own zero.
  static constexpr std::int32_t kSumStart = 0;
  /// Tile of the staged q8 kernel, in vectors x activation rows (bench/matmul_bench.cpp).
  static constexpr int kTileVecs = 2;
  static constexpr int kTileRows = 4;
  static constexpr int kDirectRows = 1;
  /// Rows of the float kernel's tile: 4 chains x 2 rows of one vector.
  static constexpr int kFloatRows = 2;
  /// Vectors of one pass over a panel for one row.
  static constexpr int kFloatVecs = 1;

  static F zero() { return _mm_setzero_ps(); }
  static F broadcast(float x) { return _mm_set1_ps(x); }
  static F add(F a, F b) { return _mm_add_ps(a, b); }
  static F sub(F a, F b) { return _mm_sub_ps(a, b); }
  static F mul(F a, F b) { return _mm_mul_ps(a, b); }
  /// Two roundings: this tier has no fused multiply-add.
  static F fma(F a, F b, F c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
  static F negate(F a) { return _mm_xor_ps(a, _mm_set1_ps(-0.0F)); }
  static F to_float(I a) { return _mm_cvtepi32_ps(a); }

  static F load_f32(const void* p) { return _mm_loadu_ps(static_cast<const float*>(p)); }
  /// Exact, infinities and NaN included. Subnormals are made by a subtraction of normal numbers: a
  /// product as in f16_to_f32 has subnormal operands, which take a microcode assist of over a
  /// hundred cycles.
  static F load_f16(const void* p) {
    const __m128i half = _mm_cvtepu16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
    const __m128i magnitude = _mm_and_si128(half, words(0x7fff));
    const __m128i sign = _mm_slli_epi32(_mm_xor_si128(half, magnitude), 16);
    const __m128i bits = _mm_slli_epi32(magnitude, 13);
    const __m128i normal = _mm_add_epi32(bits, words(112 << 23));
    const __m128 subnormal =
        _mm_sub_ps(_mm_castsi128_ps(_mm_add_epi32(bits, words(113 << 23))), _mm_set1_ps(0x1p-14F));
    const __m128i small = _mm_cmpgt_epi32(words(0x400), magnitude);
    const __m128i special =
        _mm_and_si128(_mm_cmpgt_epi32(magnitude, words(0x7bff)), words(0x7f800000));
    const __m128i value =
        _mm_or_si128(_mm_blendv_epi8(normal, _mm_castps_si128(subnormal), small), special);
    return _mm_castsi128_ps(_mm_or_si128(value, sign));
  }
  static F load_bf16(const void* p) {
    const __m128i bits = _mm_loadl_epi64(static_cast<const __m128i*>(p));
    return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(bits), 16));
  }
  static void store(float* p, F a) { _mm_storeu_ps(p, a); }
  /// The first `count` lanes; other memory is not touched and other lanes are zeros.
  static F load_first(const float* p, int count) {
    float lanes[kLanes] = {};
    std::memcpy(lanes, p, static_cast<std::size_t>(count) * sizeof(float));
    return _mm_loadu_ps(lanes);
  }
  static void store_first(float* p, F a, int count) {
    float lanes[kLanes];
    _mm_storeu_ps(lanes, a);
    std::memcpy(p, lanes, static_cast<std::size_t>(count) * sizeof(float));
  }

  static I load(const void* p) { return _mm_load_si128(static_cast<const __m128i*>(p)); }
  static void store(void* p, I a) { _mm_store_si128(static_cast<__m128i*>(p), a); }
  static I bytes(int value) { return _mm_set1_epi8(static_cast<char>(value)); }
  static I words(std::int32_t value) { return _mm_set1_epi32(value); }
  /// The four bytes at p in every 32-bit lane.
  static I broadcast4(const void* p) {
    std::int32_t four;
    std::memcpy(&four, p, 4);
    return _mm_set1_epi32(four);
  }
  /// The 4 activations of k-group kGroup as the dot takes them; `codes` are the block's 32.
  template <int kGroup>
  static I activations(const std::uint8_t* codes) {
    return broadcast4(codes + 4 * kGroup);
  }
  static I bits_and(I a, I b) { return _mm_and_si128(a, b); }
  static I bits_xor(I a, I b) { return _mm_xor_si128(a, b); }
  /// (a & mask) | b
  static I and_or(I a, I mask, I b) { return _mm_or_si128(_mm_and_si128(a, mask), b); }
  /// 16-bit lanes shifted; negative: to the left.
  template <int kBits>
  static I shift_right(I a) {
    if constexpr (kBits > 0) return _mm_srli_epi16(a, kBits);
    if constexpr (kBits < 0) return _mm_slli_epi16(a, -kBits);
    return a;
  }
  static I load_u8(const void* p) { return _mm_cvtepu8_epi32(four_bytes(p)); }
  static I load_i8(const void* p) { return _mm_cvtepi8_epi32(four_bytes(p)); }
  /// table[index] of 16 bytes, index bytes in [0, 16).
  static I lookup(const void* table, I index) { return _mm_shuffle_epi8(load(table), index); }

  /// Sums of two neighbouring products in int16; w unsigned, x signed.
  static I pairs(I w, I x) { return _mm_maddubs_epi16(w, x); }
  static I add_pairs(I sum, I w, I x) {
    sum = _mm_add_epi16(sum, pairs(w, x));
    __asm__("" : "+x"(sum));  // see avx2
    return sum;
  }
  /// The same of signed w: |w| times x with the sign of w.
  static I signed_pairs(I w, I x) { return pairs(_mm_abs_epi8(w), _mm_sign_epi8(x, w)); }
  /// sum + the two int16 of each lane.
  static I widen(I sum, I pairs16) {
    return _mm_add_epi32(sum, _mm_madd_epi16(pairs16, _mm_set1_epi16(1)));
  }
  /// scale * sum, rounded once (a sum is exact in float32); the offset is of use with fma only.
  static F scale_sum(I sum, F scale, F) { return _mm_mul_ps(_mm_cvtepi32_ps(sum), scale); }

  /// out[i] = kSumStart - offset * (sums[2i] + sums[2i+1]) for 8 blocks of 32.
  static void starts_of_32(const std::int16_t* sums, int offset, std::int32_t* out) {
    const __m128i factor = _mm_set1_epi16(static_cast<short>(-offset));
    for (int i = 0; i < 8; i += 4) store(out + i, _mm_madd_epi16(load(sums + 2 * i), factor));
  }
  /// out[i] = kSumStart - offset * sums[i] for 16 blocks of 16.
  static void starts_of_16(const std::int16_t* sums, int offset, std::int32_t* out) {
    for (int i = 0; i < 16; i += 4) {
      store(out + i, _mm_mullo_epi32(wide_sums(sums + i), words(-offset)));
    }
  }
  /// out[i] = float(sums[2i] + sums[2i+1]) for 8 blocks of 32.
  static void sums_of_32(const std::int16_t* sums, float* out) {
    for (int i = 0; i < 8; i += 4) {
      store(out + i, to_float(_mm_madd_epi16(load(sums + 2 * i), _mm_set1_epi16(1))));
    }
  }
  /// out[i] = float(sums[i]) for 16 blocks of 16.
  static void sums_of_16(const std::int16_t* sums, float* out) {
    for (int i = 0; i < 16; i += 4) store(out + i, to_float(wide_sums(sums + i)));
  }

  /// Largest |x| of 32 values as bits; integer comparison, so a NaN wins whatever the order.
  static std::int32_t largest_bits(const float* x) {
    __m128i most = _mm_setzero_si128();
    for (int i = 0; i < 32; i += 4) {
      const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
      most = _mm_max_epi32(most, _mm_and_si128(bits, words(0x7fffffff)));
    }
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0x4e));
    most = _mm_max_epi32(most, _mm_shuffle_epi32(most, 0xb1));
    return _mm_cvtsi128_si32(most);
  }
  /// codes[32] = x * inverse rounded to nearest even and held to +-127; sums[2] of 16 codes each.
  static void encode(const float* x, float inverse, std::int8_t* codes, std::int16_t* sums) {
    const __m128 factor = _mm_set1_ps(inverse);
    for (int half = 0; half < 2; ++half, x += 16) {
      const __m128i low = eight_codes(x, factor);
      const __m128i high = eight_codes(x + 8, factor);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + 16 * half), _mm_packs_epi16(low, high));
      __m128i fours = _mm_madd_epi16(_mm_add_epi16(low, high), _mm_set1_epi16(1));
      fours = _mm_add_epi32(fours, _mm_shuffle_epi32(fours, 0x4e));
      fours = _mm_add_epi32(fours, _mm_shuffle_epi32(fours, 0xb1));
      sums[half] = static_cast<std::int16_t>(_mm_cvtsi128_si32(fours));
    }
  }

 private:
  static __m128i four_bytes(const void* p) {
    std::int32_t four;
    std::memcpy(&four, p, 4);
    return _mm_cvtsi32_si128(four);
  }
  static __m128i wide_sums(const std::int16_t* sums) {
    return _mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(sums)));
  }
  static __m128i eight_codes(const float* x, __m128 factor) {
    const __m128i low = _mm_cvtps_epi32(_mm_mul_ps(_mm_loadu_ps(x), factor));
    const __m128i high = _mm_cvtps_epi32(_mm_mul_ps(_mm_loadu_ps(x + 4), factor));
    const __m128i code = _mm_packs_epi32(low, high);
    return _mm_min_epi16(_mm_max_epi16(code, _mm_set1_epi16(-127)), _mm_set1_epi16(127));
  }
};

}  // namespace
}  // namespace r1::kernels::baseline
