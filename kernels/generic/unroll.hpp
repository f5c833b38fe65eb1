// Loops that are unrolled at compile time, so that arrays of vectors live in registers on every
// compiler and bit positions are constants.
#pragma once

#include <type_traits>
#include <utility>

namespace r1::kernels {
namespace {

template <class Body, int... kIndices>
[[gnu::always_inline]] inline void unroll_over(Body&& body,
                                               std::integer_sequence<int, kIndices...>) noexcept {
  (body(std::integral_constant<int, kIndices>{}), ...);
}

/// body(i) for i = 0 .. kCount - 1; i converts to a constant expression. The body should be
/// always_inline.
template <int kCount, class Body>
[[gnu::always_inline]] inline void unroll(Body&& body) noexcept {
  unroll_over(body, std::make_integer_sequence<int, kCount>{});
}

}  // namespace
}  // namespace r1::kernels
