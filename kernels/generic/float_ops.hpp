// Element-wise float32 kernels, each written once as a template over a tier's FloatIsa. Not here:
// the KV cache (kv_write.hpp, attention.hpp) and everything that touches packed weights.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/api/args.hpp"
#include "kernels/generic/float_math.hpp"

namespace r1::kernels {
namespace {

/// f(offset, load, store) for all of [0, n) in vectors; the last one is masked, never scalar, so
/// that an element's bits do not depend on where the end lies. `load(p)` and `store(p, v)` address
/// p + offset.
template <class Isa, class F>
[[gnu::always_inline]] inline void for_each_vector(std::int64_t n, F&& f) noexcept {
  using V = typename Isa::V;
  std::int64_t i = 0;
  for (; i + Isa::kWidth <= n; i += Isa::kWidth) {
    f([i](const float* p) { return Isa::load(p + i); },
      [i](float* p, V v) { Isa::store(p + i, v); });
  }
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    f([i, rest](const float* p) { return Isa::load_partial(p + i, rest); },
      [i, rest](float* p, V v) { Isa::store_partial(p + i, v, rest); });
  }
}

/// See RmsNormFn. The squares are summed in double: they are exact there, cannot overflow, and the
/// cost vanishes beside the matrix products.
template <class Isa>
void rms_norm(const float* x, const float* w, std::int64_t k, float eps, float* y) noexcept {
  typename Isa::D low = Isa::zero_double();
  typename Isa::D high = Isa::zero_double();
  for_each_vector<Isa>(k, [&](auto load, auto) { Isa::add_squares(load(x), low, high); });
  const double mean = Isa::sum(low, high) / static_cast<double>(k);
  const double root = std::sqrt(mean + static_cast<double>(eps));
  const auto inverse = Isa::broadcast(static_cast<float>(1.0 / root));
  for_each_vector<Isa>(k, [&](auto load, auto store) { store(y, load(x) * inverse * load(w)); });
}

/// See SiluMulFn. The sigmoid is made from exp(-|x|), which neither overflows nor makes NaN; below
/// x = -87.33 it is 0.
template <class Isa>
void silu_mul(const float* gate, const float* up, std::int64_t k, float* y) noexcept {
  using V = typename Isa::V;
  const V zero = Isa::broadcast(0.0f);
  const V one = Isa::broadcast(1.0f);
  for_each_vector<Isa>(k, [&](auto load, auto store) {
    const V x = load(gate);
    const V e = exp_nonpositive<Isa>(Isa::min(x, zero - x));
    const V numerator = Isa::select_less(x, zero, e, one);
    // (x * sigmoid) first: with a huge `up` and a vanishing sigmoid the product must not pass
    // infinity.
    store(y, (x * (numerator / (one + e))) * load(up));
  });
}

/// See RopeFn: y0 = x0 cos - x1 sin, y1 = x1 cos + x0 sin.
template <class Isa>
void rope(const RopeArgs& args) noexcept {
  using V = typename Isa::V;
  const std::int64_t half = args.head_dim / 2;
  for (std::int64_t head = 0; head < args.heads; ++head) {
    float* first = args.x + head * args.head_dim;
    float* second = first + half;
    for_each_vector<Isa>(half, [&](auto load, auto store) {
      const V x0 = load(first);
      const V x1 = load(second);
      const V c = load(args.cos);
      const V s = load(args.sin);
      store(first, Isa::fma(x0, c, -(x1 * s)));
      store(second, Isa::fma(x1, c, x0 * s));
    });
  }
}

/// See AllFiniteFn. x * 0 is 0 for finite x and NaN for the others, and NaN survives every sum.
template <class Isa>
bool all_finite(const float* x, std::int64_t n) noexcept {
  typename Isa::V poison = Isa::broadcast(0.0f);
  const auto zero = Isa::broadcast(0.0f);
  for_each_vector<Isa>(n, [&](auto load, auto) { poison = Isa::fma(load(x), zero, poison); });
  return Isa::sum(poison) == 0.0f;
}

}  // namespace
}  // namespace r1::kernels
