// Exponentials of the sampler. Plain arithmetic instead of libm: the same bits on every machine
// (libm picks variants with and without FMA at run time), and loops over them vectorise.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace r1::sampling {

/// e^x for x in [-700, 0], within 2 ulp. Cody-Waite reduction by ln 2, then the Taylor series to
/// degree 13 (remainder below 1e-17 on |r| <= ln(2)/2). Real: double, or a vector of doubles, which
/// gives the same bits; Bits: unsigned integers of the same width.
template <class Real, class Bits>
inline Real exp_of(Real x) noexcept {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High =
      6.93147180369123816490e-01;  // fdlibm e_exp.c: 33 bits, products are exact
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kRoundToInt = 6755399441055744.0;  // 1.5 * 2^52
  const Real shifted = x * kLog2E + kRoundToInt;
  const Real n = shifted - kRoundToInt;
  const Real r = (x - n * kLn2High) - n * kLn2Low;
  Real p = 1.0 / 6227020800 * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // The low bits of `shifted` are n; adding them to the exponent multiplies by 2^n.
  return std::bit_cast<Real>(std::bit_cast<Bits>(p) + (std::bit_cast<Bits>(shifted) << 52));
}

/// e^x for x <= 0, as exp_of(); 0 below -700.
inline double exp_exact(double x) noexcept {
  return x >= -700 ? exp_of<double, std::uint64_t>(x) : 0;
}

/// exp_exact() of `count` values in [-700, 0], in place; the same bits.
void exp_exact_all(double* x, std::size_t count) noexcept;

/// Bound on the relative error of exp_sum_fast over terms down to e^-40: rounding of the argument,
/// at most 40 * 2^-22, of the lanes' sums, 2^-20, and of the polynomial. A deeper term is off by
/// less than e^-40.
inline constexpr double kExpSumFastError = 2e-5;

/// Sum of e^((x - max) * scale) in single precision over those of `x` that are smaller than
/// `below`; all are
/// <= max (or -Inf). Terms below 2^-116 count as that. At most 4,096 values at once: sums of a lane
/// are float.
double exp_sum_fast(std::span<const float> x, float below, float max, float scale) noexcept;

}  // namespace r1::sampling
