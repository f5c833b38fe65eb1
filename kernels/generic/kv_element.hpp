// What a KV page consists of, by the C++ type of its elements: float, std::uint16_t (f16 bits) or
// std::int8_t (codes with a scale a token).
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/api/args.hpp"

namespace r1::kernels {
namespace {

/// Largest head that the kernels take.
constexpr int kMaxHeadDim = 256;

/// Whether a page is converted to float32 before it is computed with, in registers or in scratch.
template <class Element>
inline constexpr bool kIsNarrow = !std::is_same_v<Element, float>;

/// Whether elements are codes, whose values are code * scale of the token.
template <class Element>
inline constexpr bool kHasScales = std::is_same_v<Element, std::int8_t>;

/// Elements of a cache line.
template <class Element>
inline constexpr int kLineElements = 64 / static_cast<int>(sizeof(Element));

/// The scales of a head's K or V in a page, [16 tokens] as f16 bits, which follow its codes.
inline const std::uint16_t* kv_scales(const std::int8_t* codes, std::int64_t head_dim) noexcept {
  return reinterpret_cast<const std::uint16_t*>(codes + kPageTokens * head_dim);
}
inline std::uint16_t* kv_scales(std::int8_t* codes, std::int64_t head_dim) noexcept {
  return reinterpret_cast<std::uint16_t*>(codes + kPageTokens * head_dim);
}

}  // namespace
}  // namespace r1::kernels
