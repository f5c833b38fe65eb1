// The register tile of attention: a few rows of multipliers times rows of 16-column units, float32.
// It serves both products: scores (query x K, whose units are pages) and output (weights x V, whose
// units are parts of a head). Each result is one chain of multiply-adds in ascending order,
// whatever the tile's height and width, so that bits do not depend on how the work was cut.
#pragma once

#include <cstdint>

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

  /// sums[row] += sum over i < count of multiplier(row)[i] * unit(u)[i * stride + 0..15]. On the
  /// way the same places of ahead(u) are asked into the cache if kPrefetch is set.
  template <bool kPrefetch, class Multiplier, class Unit, class Ahead>
  [[gnu::always_inline]] void accumulate(std::int64_t count, std::int64_t stride,
                                         Multiplier multiplier, Unit unit, Ahead ahead) noexcept {
    for (std::int64_t i = 0; i < count; ++i) {
      V values[kVectors];
      unroll<kUnits>([&](auto u) __attribute__((always_inline)) {
        const auto* p = unit(u) + i * stride;
        if constexpr (kPrefetch) __builtin_prefetch(ahead(u) + i * stride);
        unroll<kUnitVectors>([&](auto part) __attribute__((always_inline)) {
          values[u * kUnitVectors + part] = Isa::load(p + part * Isa::kWidth);
        });
      });
      unroll<kRows>([&](auto row) __attribute__((always_inline)) {
        const V factor = Isa::broadcast(multiplier(row)[i]);
        unroll<kVectors>([&](auto vector) __attribute__((always_inline)) {
          sums[row][vector] = Isa::fma(factor, values[vector], sums[row][vector]);
        });
      });
    }
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
