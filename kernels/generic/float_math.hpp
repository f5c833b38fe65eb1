// Building blocks of the float32 kernels: compile-time unrolling and the vector exponential.
// Templates over a tier's FloatIsa (isa/<tier>/float_isa.hpp); the unnamed namespace keeps every
// tier's copy to itself.
#pragma once

#include <type_traits>

namespace r1::kernels {
namespace {

/// Calls f(std::integral_constant<int, count>) for a run-time count in [1, kMax].
template <int kMax, class F>
inline void with_constant(int count, F&& f) noexcept {
  if constexpr (kMax > 1) {
    if (count < kMax) {
      with_constant<kMax - 1>(count, f);
      return;
    }
  }
  f(std::integral_constant<int, kMax>{});
}

/// exp(x) for x <= 0 with an error below 2 ulp. Below -87.33 (where the result would leave the
/// normal range) exactly 0; NaN stays NaN. Range reduction and polynomial: Cephes expf (S.
/// Moshier).
template <class Isa>
[[gnu::always_inline]] inline typename Isa::V exp_nonpositive(typename Isa::V x) noexcept {
  using V = typename Isa::V;
  constexpr float kLog2E = 1.44269504088896341f;
  // ln 2 in two parts; the first has 9 significant bits, so that n * kLn2High is exact without fma.
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  constexpr float kSmallest = -87.33f;  // above ln(2^-126) = -87.3365

  const V n = Isa::round(x * Isa::broadcast(kLog2E));
  V r = Isa::fma(n, Isa::broadcast(-kLn2High), x);
  r = Isa::fma(n, Isa::broadcast(-kLn2Low), r);
  V p = Isa::fma(Isa::broadcast(1.9875691500e-4f), r, Isa::broadcast(1.3981999507e-3f));
  p = Isa::fma(p, r, Isa::broadcast(8.3334519073e-3f));
  p = Isa::fma(p, r, Isa::broadcast(4.1665795894e-2f));
  p = Isa::fma(p, r, Isa::broadcast(1.6666665459e-1f));
  p = Isa::fma(p, r, Isa::broadcast(5.0000001201e-1f));
  p = Isa::fma(p, r * r, r) + Isa::broadcast(1.0f);
  return Isa::select_less(x, Isa::broadcast(kSmallest), Isa::broadcast(0.0f),
                          Isa::scale_by_power(p, n));
}

/// 2^x for x <= 0 with a relative error below 2e-7 (3e-7 without fma), exactly 1 for 0. Below -125
/// exactly 0; NaN stays NaN. Minimax polynomial of degree 5 with a constant of 1 (relative error
/// 9.2e-8), by iteratively reweighted least squares.
template <class Isa>
[[gnu::always_inline]] inline typename Isa::V exp2_nonpositive(typename Isa::V x) noexcept {
  using V = typename Isa::V;
  const V n = Isa::round(x);
  const V r = x - n;
  V p = Isa::fma(Isa::broadcast(1.3264727e-3f), r, Isa::broadcast(9.6715127e-3f));
  p = Isa::fma(p, r, Isa::broadcast(5.5507337e-2f));
  p = Isa::fma(p, r, Isa::broadcast(2.4022242e-1f));
  p = Isa::fma(p, r, Isa::broadcast(6.9314698e-1f));
  p = Isa::fma(p, r, Isa::broadcast(1.0f));
  return Isa::select_less(x, Isa::broadcast(-125.0f), Isa::broadcast(0.0f),
                          Isa::scale_by_power(p, n));
}

}  // namespace
}  // namespace r1::kernels
