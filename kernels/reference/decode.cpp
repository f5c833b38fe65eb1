// Value by value decoding of GGUF blocks, after the block descriptions of ggml and the gguf Python
// package.
#include "kernels/reference/decode.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace r1::kernels::reference {
namespace {

using Byte = unsigned char;

unsigned word(const Byte* p) { return static_cast<unsigned>(p[0]) + 256U * p[1]; }

/// IEEE binary16 by its definition: sign, exponent of 5 bits biased by 15, fraction of 10 bits.
float half(const Byte* p) {
  const unsigned bits = word(p);
  const int exponent = static_cast<int>(bits / 1024 % 32);
  const double fraction = bits % 1024 / 1024.0;
  double value;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -14);
  } else {
    value = std::ldexp(1 + fraction, exponent - 15);
  }
  return static_cast<float>(bits >= 0x8000 ? -value : value);
}

float single(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

int nibble(const Byte* bytes, int i, int half_count) {
  return i < half_count ? bytes[i] % 16 : bytes[i - half_count] / 16;
}
int bit(const Byte* bytes, int i) { return bytes[i / 8] >> (i % 8) & 1; }

constexpr int kTable[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                            1,    13,   25,  38,  53,  69,  89,  113};

/// Scale (low) and minimum of Q4_K and Q5_K sub-block j: ggml's get_scale_min_k4.
void scale_min(const Byte* q, int j, int& scale, int& min) {
  if (j < 4) {
    scale = q[j] & 63;
    min = q[j + 4] & 63;
  } else {
    scale = (q[j + 4] & 0xF) | ((q[j - 4] >> 6) << 4);
    min = (q[j + 4] >> 4) | ((q[j] >> 6) << 4);
  }
}

/// No addend: adding -0 keeps every value, the sign of a zero included.
constexpr double kNone = -0.0;

template <class Real>
Terms<Real> legacy(WeightType type, const Byte* b, int i) {
  const Real d = half(b);
  const auto one = [&](int code) { return Terms<Real>{d * static_cast<Real>(code), kNone}; };
  const auto two = [&](int code) {
    return Terms<Real>{d * static_cast<Real>(code), static_cast<Real>(half(b + 2))};
  };
  switch (type) {
    case WeightType::q4_0:
      return one(nibble(b + 2, i, 16) - 8);
    case WeightType::q4_1:
      return two(nibble(b + 4, i, 16));
    case WeightType::q5_0:
      return one(nibble(b + 6, i, 16) + 16 * bit(b + 2, i) - 16);
    case WeightType::q5_1:
      return two(nibble(b + 8, i, 16) + 16 * bit(b + 4, i));
    case WeightType::q8_0:
      return one(static_cast<signed char>(b[2 + i]));
    default:
      return one(kTable[nibble(b + 2, i, 16)]);
  }
}

template <class Real>
Terms<Real> q2_k(const Byte* b, int i) {
  const Byte pair = b[i / 16];
  const Byte* q = b + 16 + i / 128 * 32;
  const int code = q[i % 32] >> (i % 128 / 32 * 2) & 3;
  const Real scale = static_cast<Real>(half(b + 80)) * static_cast<Real>(pair % 16);
  const Real min = static_cast<Real>(half(b + 82)) * static_cast<Real>(pair / 16);
  return {scale * static_cast<Real>(code), -min};
}

template <class Real>
Terms<Real> q3_k(const Byte* b, int i) {
  const int high = b[i % 32] >> (i / 32) & 1;
  const int low = b[32 + i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
  const Byte* s = b + 96;
  const int j = i / 16;
  const int scale_low = j < 8 ? s[j] % 16 : s[j - 8] / 16;
  const int scale_high = s[8 + j % 4] >> (2 * (j / 4)) & 3;
  const Real step =
      static_cast<Real>(half(b + 108)) * static_cast<Real>(scale_low + 16 * scale_high - 32);
  return {step * static_cast<Real>(low - (high != 0 ? 0 : 4)), kNone};
}

template <class Real>
Terms<Real> q45_k(const Byte* b, int i, bool five) {
  int scale;
  int min;
  scale_min(b + 4, i / 32, scale, min);
  const Byte* q = b + (five ? 48 : 16) + i / 64 * 32;
  int code = i % 64 < 32 ? q[i % 32] & 15 : q[i % 32] >> 4;
  if (five) code += (b[16 + i % 32] >> (i / 32) & 1) * 16;
  const Real step = static_cast<Real>(half(b)) * static_cast<Real>(scale);
  const Real low = static_cast<Real>(half(b + 2)) * static_cast<Real>(min);
  return {step * static_cast<Real>(code), -low};
}

template <class Real>
Terms<Real> q6_k(const Byte* b, int i) {
  const int n = i / 128;
  const int l = i % 32;
  const int quarter = i % 128 / 32;
  const Byte* ql = b + 64 * n + (quarter % 2) * 32;
  const Byte* qh = b + 128 + 32 * n;
  const int low = quarter < 2 ? ql[l] & 15 : ql[l] >> 4;
  const int code = low | (qh[l] >> (2 * quarter) & 3) << 4;
  const Real step = static_cast<Real>(half(b + 208)) *
                    static_cast<Real>(static_cast<signed char>(b[192 + i / 16]));
  return {step * static_cast<Real>(code - 32), kNone};
}

template <class Real>
Terms<Real> tq2_0(const Byte* b, int i) {
  const int code = b[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
  return {static_cast<Real>(half(b + 64)) * static_cast<Real>(code - 1), kNone};
}

template <class Real>
Terms<Real> iq4_xs(const Byte* b, int i) {
  const int j = i / 32;
  const int low = b[4 + j / 2] >> (4 * (j % 2)) & 15;
  const int high = static_cast<int>(word(b + 2)) >> (2 * j) & 3;
  const Real step = static_cast<Real>(half(b)) * static_cast<Real>((low | high << 4) - 32);
  return {step * static_cast<Real>(kTable[nibble(b + 8 + 16 * j, i % 32, 16)]), kNone};
}

}  // namespace

template <class Real>
Terms<Real> decode_terms(WeightType type, const std::byte* row, std::int64_t index) {
  const auto* bytes = reinterpret_cast<const Byte*>(row);
  const auto legacy_at = [&](int block_bytes) {
    return legacy<Real>(type, bytes + index / 32 * block_bytes, static_cast<int>(index % 32));
  };
  const int i = static_cast<int>(index % 256);
  const std::int64_t super = index / 256;
  switch (type) {
    case WeightType::f32:
      return {
          static_cast<Real>(single(word(bytes + 4 * index) | word(bytes + 4 * index + 2) << 16)),
          kNone};
    case WeightType::f16:
      return {static_cast<Real>(half(bytes + 2 * index)), kNone};
    case WeightType::bf16:
      return {static_cast<Real>(single(word(bytes + 2 * index) << 16)), kNone};
    case WeightType::q4_0:
    case WeightType::iq4_nl:
      return legacy_at(18);
    case WeightType::q4_1:
      return legacy_at(20);
    case WeightType::q5_0:
      return legacy_at(22);
    case WeightType::q5_1:
      return legacy_at(24);
    case WeightType::q8_0:
      return legacy_at(34);
    case WeightType::q2_k:
      return q2_k<Real>(bytes + super * 84, i);
    case WeightType::q3_k:
      return q3_k<Real>(bytes + super * 110, i);
    case WeightType::q4_k:
      return q45_k<Real>(bytes + super * 144, i, false);
    case WeightType::q5_k:
      return q45_k<Real>(bytes + super * 176, i, true);
    case WeightType::q6_k:
      return q6_k<Real>(bytes + super * 210, i);
    case WeightType::iq4_xs:
      return iq4_xs<Real>(bytes + super * 136, i);
    case WeightType::tq2_0:
      return tq2_0<Real>(bytes + super * 66, i);
  }
  return {0, 0};
}

template Terms<float> decode_terms(WeightType, const std::byte*, std::int64_t);
template Terms<double> decode_terms(WeightType, const std::byte*, std::int64_t);

}  // namespace r1::kernels::reference
