// y = x W^T for weights that are floats in the file. Each output is four chains over k by k % 4,
// added as (0 + 1) + (2 + 3): enough independent sums for one row to run at full speed, and the
// same for any tile.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/api/table.hpp"
#include "kernels/formats/panel_layout.hpp"
#include "kernels/generic/epilogue.hpp"
#include "kernels/generic/prefetch.hpp"
#include "kernels/generic/unroll.hpp"

namespace r1::kernels {
namespace {

inline constexpr int kChains = 4;

/// sums[kRows][kVecs][kLanes] of kRows rows at x over k_padded values; `weights` points at the
/// first vector's values of k = 0 in its panel.
template <class Isa, class Format, int kVecs, int kRows>
[[gnu::noinline]] void multiply_floats(const std::uint8_t* weights, const std::uint8_t* x,
                                       std::int64_t x_stride, std::int64_t k_padded,
                                       float* sums_memory) noexcept {
  using F = typename Isa::F;
  constexpr int kStep = static_cast<int>(kPanelRows) * Format::kValueBytes;
  F sums[kRows][kVecs][kChains];
  unroll<kRows * kVecs * kChains>([&](auto i) __attribute__((always_inline)) {
    sums[i / (kVecs * kChains)][i / kChains % kVecs][i % kChains] = Isa::zero();
  });
  for (std::int64_t k = 0; k < k_padded; k += kChains) {
    if constexpr (kRows == 1) {
      for (int i = 0; i < kChains * kStep; i += 64) prefetch(weights + kPrefetchBytes + i);
    }
    unroll<kChains>([&](auto chain) __attribute__((always_inline)) {
      unroll<kVecs>([&](auto v) __attribute__((always_inline)) {
        const F w = Format::template load<Isa>(weights + chain * kStep +
                                               v * Isa::kLanes * Format::kValueBytes);
        unroll<kRows>([&](auto r) __attribute__((always_inline)) {
          float value;
          std::memcpy(&value, x + r * x_stride + (k + chain) * 4, 4);
          sums[r][v][chain] = Isa::fma(w, Isa::broadcast(value), sums[r][v][chain]);
        });
      });
    });
    weights += kChains * kStep;
  }
  unroll<kRows>([&](auto r) __attribute__((always_inline)) {
    unroll<kVecs>([&](auto v) __attribute__((always_inline)) {
      const F* chain = sums[r][v];
      Isa::store(sums_memory + (r * kVecs + v) * Isa::kLanes,
                 Isa::add(Isa::add(chain[0], chain[1]), Isa::add(chain[2], chain[3])));
    });
  });
}

/// One row and a whole panel, kFloatVecs vectors at a time, so that the panel is read in as few
/// passes as the registers allow.
template <class Isa, class Format>
void multiply_row(const MatmulArgs& args, const std::uint8_t* panel, std::int64_t first_column,
                  std::int64_t k_padded) noexcept {
  constexpr int kVecs = Isa::kFloatVecs;
  for (int first = 0; first < kPanelRows; first += kVecs * Isa::kLanes) {
    if (first_column + first >= args.n) return;
    alignas(64) float sums[kVecs * Isa::kLanes];
    multiply_floats<Isa, Format, kVecs, 1>(panel + first * Format::kValueBytes,
                                           reinterpret_cast<const std::uint8_t*>(args.x), 0,
                                           k_padded, sums);
    for (int at = 0; at < kVecs * Isa::kLanes; at += Isa::kLanes) {
      store_sums<Isa>(args, sums + at, 0, 0, 1, first_column + first + at);
    }
  }
}

/// The kernel of MatrixKernels::matmul for float formats.
template <class Isa, class Format>
void matmul_float(const MatmulArgs& args) noexcept {
  constexpr int kRowsMax = Isa::kFloatRows;
  constexpr int kPanelVecs = static_cast<int>(kPanelRows) / Isa::kLanes;
  const std::int64_t k_padded = (args.k + kChains - 1) / kChains * kChains;
  const std::int64_t panel_bytes = panel_total_bytes<Format>(args.k);
  for (std::int64_t panel = args.panel_begin; panel < args.panel_end; ++panel) {
    const auto* values = reinterpret_cast<const std::uint8_t*>(args.panels) + panel * panel_bytes;
    if (args.m == 1) {
      multiply_row<Isa, Format>(args, values, panel * kPanelRows, k_padded);
      continue;
    }
    for (int v = 0; v < kPanelVecs; ++v) {
      const std::int64_t column = panel * kPanelRows + v * Isa::kLanes;
      if (column >= args.n) break;
      const std::uint8_t* weights = values + v * Isa::kLanes * Format::kValueBytes;
      std::int64_t row = 0;
      const auto take = [&]<int kRows>() {
        for (; row + kRows <= args.m; row += kRows) {
          alignas(64) float sums[kRows * Isa::kLanes];
          multiply_floats<Isa, Format, 1, kRows>(
              weights, reinterpret_cast<const std::uint8_t*>(args.x) + row * args.x_stride,
              args.x_stride, k_padded, sums);
          store_sums<Isa>(args, sums, Isa::kLanes, row, kRows, column);
        }
      };
      take.template operator()<kRowsMax>();
      if constexpr (kRowsMax > 4) take.template operator()<4>();
      if constexpr (kRowsMax > 2) take.template operator()<2>();
      take.template operator()<1>();
    }
  }
}

}  // namespace
}  // namespace r1::kernels
