// Transposition of small squares in vectors of 16 bytes: the step that turns rows of a file into a
// packed panel, where the same columns of 16 rows lie side by side. Portable code.
#pragma once

#include <bit>

#include "kernels/formats/bytes16.hpp"
#include "kernels/generic/unroll.hpp"

namespace r1::kernels {
namespace {

/// Elements of kBytes bytes that fill 16 bytes: the side of a square.
template <int kBytes>
inline constexpr int kSquare = 16 / kBytes;

/// Transposes a square in place: element j of rows[i] becomes element i of rows[j].
template <int kBytes>
[[gnu::always_inline]] inline void transpose(Bytes16 (&rows)[kSquare<kBytes>]) noexcept {
  constexpr int kSide = kSquare<kBytes>;
  // Each round doubles the run of rows that lie side by side.
  unroll<std::countr_zero(unsigned{kSide})>([&](auto) __attribute__((always_inline)) {
    Bytes16 mixed[kSide];
    unroll<kSide / 2>([&](auto i) __attribute__((always_inline)) {
      mixed[2 * i] = interleave<kBytes, false>(rows[i], rows[i + kSide / 2]);
      mixed[2 * i + 1] = interleave<kBytes, true>(rows[i], rows[i + kSide / 2]);
    });
    unroll<kSide>([&](auto i) __attribute__((always_inline)) { rows[i] = mixed[i]; });
  });
}

}  // namespace
}  // namespace r1::kernels
