// The fast sum, in vectors of four floats: the same arithmetic on every machine of a kind, though
// nothing but a bound on its error is relied on.
#include "libr1/sampling/exponential.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "libr1/sampling/lanes.hpp"

namespace r1::sampling {
namespace {

// 2^x for x <= 0. Degree 4 minimax of the relative error on [-0.5, 0.5], 2.7e-6 in float
// arithmetic.
inline FloatLanes exp2_fast(FloatLanes x) noexcept {
  constexpr float kRoundToInt = 12582912.0F;  // 1.5 * 2^23
  x = larger(x, all_lanes(-116.0F));
  const FloatLanes shifted = x + kRoundToInt;
  const FloatLanes f = x - (shifted - kRoundToInt);
  FloatLanes p = all_lanes(0.00957010198F);
  p = p * f + 0.055917861F;
  p = p * f + 0.240247448F;
  p = p * f + 0.693121815F;
  p = p * f + 0.999999261F;
  // The low bits of `shifted` are the whole part; adding them to the exponent multiplies by 2^n.
  return reinterpret_cast<FloatLanes>(reinterpret_cast<IntLanes>(p) +
                                      (reinterpret_cast<IntLanes>(shifted) << 23));
}

// Adds the terms of kStep values.
inline void add_step(const float* x, FloatLanes below, FloatLanes max, FloatLanes scale2,
                     std::array<FloatLanes, kStepVectors>& sums) noexcept {
  for (std::size_t v = 0; v < kStepVectors; ++v) {
    const FloatLanes value = load_lanes(x + 4 * v);
    const auto term = reinterpret_cast<IntLanes>(exp2_fast((value - max) * scale2));
    sums[v] += reinterpret_cast<FloatLanes>(term & (value < below));
  }
}

}  // namespace

void exp_exact_all(double* x, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2) {
    DoubleLanes lanes;
    std::memcpy(&lanes, x + i, sizeof lanes);
    lanes = exp_of<DoubleLanes, LongLanes>(lanes);
    std::memcpy(x + i, &lanes, sizeof lanes);
  }
  if (i < count) x[i] = exp_exact(x[i]);
}

double exp_sum_fast(std::span<const float> x, float below, float max, float scale) noexcept {
  const FloatLanes below_lanes = all_lanes(below);
  const FloatLanes max_lanes = all_lanes(max);
  const FloatLanes scale2 = all_lanes(scale * 1.44269504F);
  std::array<FloatLanes, kStepVectors> sums{};
  std::size_t i = 0;
  for (; i + kStep <= x.size(); i += kStep) {
    add_step(x.data() + i, below_lanes, max_lanes, scale2, sums);
  }
  if (i < x.size()) {
    std::array<float, kStep> rest;
    rest.fill(below);
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), rest.begin());
    add_step(rest.data(), below_lanes, max_lanes, scale2, sums);
  }
  double sum = 0;
  for (const FloatLanes& lanes : sums) {
    for (int lane = 0; lane < 4; ++lane) sum += static_cast<double>(lanes[lane]);
  }
  return sum;
}

}  // namespace r1::sampling
