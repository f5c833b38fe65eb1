// Traits of the ARM baseline tier (NEON of ARMv8.0) for the matrix kernels: 4 rows a vector, bytes
// multiplied into int16 and widened. Codes are signed bytes, which those of up to 6 bits are as
// they stand. What each name means is documented in docs/kernels.md.
#pragma once

#include <arm_neon.h>

#include <cstdint>
#include <cstring>

namespace r1::kernels::neon {
namespace {

struct Isa {
  using F = float32x4_t;
  using I = uint8x16_t;
  /// int16 sums of products: rows 0 and 1 in `low`, 4 lanes each, rows 2 and 3 in `high`.
  struct Pairs {
    int16x8_t low;
    int16x8_t high;
  };
  static constexpr int kLanes = 4;

  /// False: products meet in int16 (pairs, widen).
  static constexpr bool kByteDot = false;
  static constexpr bool kSignedCodes = true;
  /// shift_right moves bytes, so bits at the top of a byte need no mask.
  static constexpr bool kByteShifts = true;
  /// A conversion and a product are as cheap as a copy and a multiply-add into it.
  static constexpr std::int32_t kSumStart = 0;
  /// Tile of the staged q8 kernel, in vectors x activation rows: a sum takes four registers, two of
  /// them int16. 2 x 3 and 1 x 4 need more instructions a product, because GCC 12 spills.
  static constexpr int kTileVecs = 2;
  static constexpr int kTileRows = 2;
  static constexpr int kDirectRows = 1;
  /// Rows of the float kernel's tile: 4 chains x 6 rows of one vector.
  static constexpr int kFloatRows = 6;
  /// Vectors of one pass over a panel for one row: 4 chains x 4 vectors.
  static constexpr int kFloatVecs = 4;

  static F zero() { return vdupq_n_f32(0.0F); }
  static F broadcast(float x) { return vdupq_n_f32(x); }
  static F add(F a, F b) { return vaddq_f32(a, b); }
  static F sub(F a, F b) { return vsubq_f32(a, b); }
  static F mul(F a, F b) { return vmulq_f32(a, b); }
  static F fma(F a, F b, F c) { return vfmaq_f32(c, a, b); }
  static F negate(F a) { return vnegq_f32(a); }
  static F to_float(I a) { return vcvtq_f32_s32(s32(a)); }

  static F load_f32(const void* p) { return vld1q_f32(static_cast<const float*>(p)); }
  static F load_f16(const void* p) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(static_cast<const std::uint16_t*>(p))));
  }
  static F load_bf16(const void* p) {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(static_cast<const std::uint16_t*>(p)), 16));
  }
  static void store(float* p, F a) { vst1q_f32(p, a); }
  /// The first `count` lanes; other memory is not touched and other lanes are zeros.
  static F load_first(const float* p, int count) {
    float lanes[kLanes] = {};
    std::memcpy(lanes, p, static_cast<std::size_t>(count) * sizeof(float));
    return vld1q_f32(lanes);
  }
  static void store_first(float* p, F a, int count) {
    float lanes[kLanes];
    vst1q_f32(lanes, a);
    std::memcpy(p, lanes, static_cast<std::size_t>(count) * sizeof(float));
  }

  static I load(const void* p) { return vld1q_u8(static_cast<const std::uint8_t*>(p)); }
  static void store(void* p, I a) { vst1q_u8(static_cast<std::uint8_t*>(p), a); }
  static I bytes(int value) { return vdupq_n_u8(static_cast<std::uint8_t>(value)); }
  static I words(std::int32_t value) { return vreinterpretq_u8_s32(vdupq_n_s32(value)); }
  /// The four bytes at p in every 32-bit lane.
  static I broadcast4(const void* p) {
    std::int32_t four;
    std::memcpy(&four, p, 4);
    return words(four);
  }
  /// The 4 activations of k-group kGroup as the dot takes them; `codes` are the block's 32.
  template <int kGroup>
  static I activations(const std::uint8_t* codes) {
    const int32x4_t four_groups = s32(load(codes + kGroup / 4 * 16));
    return vreinterpretq_u8_s32(vdupq_laneq_s32(four_groups, kGroup % 4));
  }
  static I bits_and(I a, I b) { return vandq_u8(a, b); }
  static I bits_xor(I a, I b) { return veorq_u8(a, b); }
  /// (a & mask) | b for b without bits of the mask, which a selection does at once.
  static I and_or(I a, I mask, I b) { return vbslq_u8(mask, a, b); }
  /// Bytes shifted; negative: to the left.
  template <int kBits>
  static I shift_right(I a) {
    if constexpr (kBits > 0) return vshrq_n_u8(a, kBits);
    if constexpr (kBits < 0) return vshlq_n_u8(a, -kBits);
    return a;
  }
  static I load_u8(const void* p) {
    return vreinterpretq_u8_u32(vmovl_u16(vget_low_u16(vmovl_u8(four_bytes(p)))));
  }
  static I load_i8(const void* p) {
    return vreinterpretq_u8_s32(
        vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(four_bytes(p))))));
  }
  /// table[index] of 16 bytes, index bytes in [0, 16).
  static I lookup(const void* table, I index) { return vqtbl1q_u8(load(table), index); }

  /// Products in int16; both signed.
  static Pairs pairs(I w, I x) {
    return {vmull_s8(vget_low_s8(s8(w)), vget_low_s8(s8(x))), vmull_high_s8(s8(w), s8(x))};
  }
  static Pairs signed_pairs(I w, I x) { return pairs(w, x); }
  static Pairs add_pairs(Pairs sum, I w, I x) {
    return {vmlal_s8(sum.low, vget_low_s8(s8(w)), vget_low_s8(s8(x))),
            vmlal_high_s8(sum.high, s8(w), s8(x))};
  }
  /// sum + the four int16 of each row. Two products of -128 and -127 fit int16 together.
  static I widen(I sum, Pairs products) {
    return vreinterpretq_u8_s32(vpadalq_s16(s32(sum), vpaddq_s16(products.low, products.high)));
  }
  /// scale * sum, rounded once (a sum is exact in float32).
  static F scale_sum(I sum, F scale, F) { return vmulq_f32(to_float(sum), scale); }

  /// out[i] = -offset * (sums[2i] + sums[2i+1]) for 8 blocks of 32.
  static void starts_of_32(const std::int16_t* sums, int offset, std::int32_t* out) {
    for (int i = 0; i < 8; i += 4) vst1q_s32(out + i, vmulq_n_s32(sums32(sums + 2 * i), -offset));
  }
  /// out[i] = -offset * sums[i] for 16 blocks of 16.
  static void starts_of_16(const std::int16_t* sums, int offset, std::int32_t* out) {
    for (int i = 0; i < 16; i += 4) vst1q_s32(out + i, vmulq_n_s32(sums16(sums + i), -offset));
  }
  /// out[i] = float(sums[2i] + sums[2i+1]) for 8 blocks of 32.
  static void sums_of_32(const std::int16_t* sums, float* out) {
    for (int i = 0; i < 8; i += 4) store(out + i, vcvtq_f32_s32(sums32(sums + 2 * i)));
  }
  /// out[i] = float(sums[i]) for 16 blocks of 16.
  static void sums_of_16(const std::int16_t* sums, float* out) {
    for (int i = 0; i < 16; i += 4) store(out + i, vcvtq_f32_s32(sums16(sums + i)));
  }

  /// Largest |x| of 32 values as bits; integer comparison, so a NaN wins whatever the order.
  static std::int32_t largest_bits(const float* x) {
    int32x4_t most = vdupq_n_s32(0);
    for (int i = 0; i < 32; i += 4) {
      const int32x4_t bits = vreinterpretq_s32_f32(vld1q_f32(x + i));
      most = vmaxq_s32(most, vandq_s32(bits, vdupq_n_s32(0x7fffffff)));
    }
    return vmaxvq_s32(most);
  }
  /// codes[32] = x * inverse rounded to nearest even and held to +-127; sums[2] of 16 codes each.
  /// NaN becomes -127 as on x86: the maximum of a number and NaN is the number.
  static void encode(const float* x, float inverse, std::int8_t* codes, std::int16_t* sums) {
    for (int half = 0; half < 2; ++half, x += 16) {
      const int16x8_t low = vcombine_s16(four_codes(x, inverse), four_codes(x + 4, inverse));
      const int16x8_t high = vcombine_s16(four_codes(x + 8, inverse), four_codes(x + 12, inverse));
      vst1q_s8(codes + 16 * half, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
      sums[half] = vaddvq_s16(vaddq_s16(low, high));
    }
  }

 protected:
  static int8x16_t s8(I a) { return vreinterpretq_s8_u8(a); }
  static int32x4_t s32(I a) { return vreinterpretq_s32_u8(a); }

 private:
  static uint8x8_t four_bytes(const void* p) {
    std::uint32_t four;
    std::memcpy(&four, p, 4);
    return vreinterpret_u8_u32(vdup_n_u32(four));
  }
  static int32x4_t sums32(const std::int16_t* sums) { return vpaddlq_s16(vld1q_s16(sums)); }
  static int32x4_t sums16(const std::int16_t* sums) { return vmovl_s16(vld1_s16(sums)); }
  static int16x4_t four_codes(const float* x, float inverse) {
    const float32x4_t code = vmulq_n_f32(vld1q_f32(x), inverse);
    const float32x4_t held =
        vminq_f32(vmaxnmq_f32(code, vdupq_n_f32(-127.0F)), vdupq_n_f32(127.0F));
    return vmovn_s32(vcvtnq_s32_f32(held));
  }
};

}  // namespace
}  // namespace r1::kernels::neon
