// Integer arithmetic that says when a result does not fit. Sizes and offsets that come from a file,
// or are products of two dimensions, go through here; loops over values that are known to be small
// do not.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

namespace r1::base {

/// a + b, or nothing when T cannot hold it.
template <std::integral T>
constexpr std::optional<T> checked_add(T a, T b) noexcept {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// a * b, or nothing when T cannot hold it.
template <std::integral T>
constexpr std::optional<T> checked_mul(T a, T b) noexcept {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// `value` as To, or nothing when To cannot hold it.
template <std::integral To, std::integral From>
constexpr std::optional<To> checked_cast(From value) noexcept {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

/// True for 1, 2, 4, 8 and so on.
template <std::unsigned_integral T>
constexpr bool is_power_of_two(T value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}

/// The smallest multiple of `alignment` (a positive number) that is not below `value` (not
/// negative), or nothing when T cannot hold it.
template <std::integral T>
constexpr std::optional<T> checked_align_up(T value, T alignment) noexcept {
  const T rest = static_cast<T>(value % alignment);
  if (rest == 0) return value;
  return checked_add(value, static_cast<T>(alignment - rest));
}

/// Index of the first element of row `row` in a matrix with `columns` columns, always in 64 bits: a
/// vocabulary of 151,936 passes 2^31 inside row 14,134 (case K6).
constexpr std::int64_t row_offset(std::int64_t row, std::int64_t columns) noexcept {
  return row * columns;
}

}  // namespace r1::base
