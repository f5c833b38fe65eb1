// The register tile of attention: a few rows of multipliers times rows of 16-column units, float32.
// It serves both products: scores (query x K, whose units are pages) and output (weights x V, whose
// units are parts of a head). Each result is one chain of multiply-adds in ascending order,
// whatever the tile's height and width, so that bits do not depend on how the work was cut.
#pragma once

#include <cstdint>

#include "kernels/generic/prefetch.hpp"
#include "kernels/generic/unroll.hpp"

namespace r1::kernels {
namespace {

/// Columns of a unit; also the tokens of a page.
constexpr int kUnitColumns = 16;

/// kRows x kUnits units of accumulators.
template <class Isa, int kRows, int kUnits>
struct AttentionTile {
  using V = typename Isa::V;
  static constexpr int kUnitVectors = kUnitColumns / Isa::kWidth;
  static constexpr int kVectors = kUnits * kUnitVectors;

  V sums[kRows][kVectors];

  [[gnu::always_inline]] void clear() noexcept {
    each([&](auto, auto, V& sum) __attribute__((always_inline)) { sum = Isa::broadcast(0.0f); });
  }

  /// sums[row] += factors[row * kRowStride] * unit(u)[0..15]. The stride is a constant, so that the
  /// rows need one pointer and not one each.
  template <int kRowStride, class Unit>
  [[gnu::always_inline]] void add(const float* factors, Unit unit) noexcept {
    V values[kVectors];
    unroll<kUnits>([&](auto u) __attribute__((always_inline)) {
      unroll<kUnitVectors>([&](auto part) __attribute__((always_inline)) {
        values[u * kUnitVectors + part] = Isa::load(unit(u) + part * Isa::kWidth);
      });
    });
    unroll<kRows>([&](auto row) __attribute__((always_inline)) {
      const V factor = Isa::broadcast(factors[row * kRowStride]);
      unroll<kVectors>([&](auto vector) __attribute__((always_inline)) {
        sums[row][vector] = Isa::fma(factor, values[vector], sums[row][vector]);
      });
    });
  }

  /// The same for factors[row * kRowStride + i] and unit(u)[i * stride + 0..15], i = 0 .. count
  /// - 1. If kPrefetch is set, as much memory as is read is asked into the cache on the way, in
  /// order from `ahead` on.
  template <int kRowStride, bool kPrefetch, class Unit, class Element>
  [[gnu::always_inline]] void accumulate(std::int64_t count, std::int64_t stride,
                                         const float* factors, Unit unit,
                                         const Element* ahead) noexcept {
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (kPrefetch) prefetch(ahead + i * (kUnits * kUnitColumns));
      add<kRowStride>(
          factors + i, [&](auto u) __attribute__((always_inline)) { return unit(u) + i * stride; });
    }
  }

  /// sums[row] *= unit(u)[0..15].
  template <class Unit>
  [[gnu::always_inline]] void multiply(Unit unit) noexcept {
    unroll<kUnits>([&](auto u) __attribute__((always_inline)) {
      unroll<kUnitVectors>([&](auto part) __attribute__((always_inline)) {
        const V factor = Isa::load(unit(u) + part * Isa::kWidth);
        unroll<kRows>([&](auto row) __attribute__((always_inline)) {
          V& sum = sums[row][u * kUnitVectors + part];
          sum = sum * factor;
        });
      });
    });
  }

  /// f(row, column of the vector's first lane, sum) for every accumulator.
  template <class F>
  [[gnu::always_inline]] void each(F f) noexcept {
    unroll<kRows>([&](auto row) __attribute__((always_inline)) {
      unroll<kVectors>([&](auto vector) __attribute__((always_inline)) {
        f(row, std::integral_constant<int, vector * Isa::kWidth>{}, sums[row][vector]);
      });
    });
  }
};

}  // namespace
}  // namespace r1::kernels
