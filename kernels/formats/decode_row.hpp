// The row decoder that the tables of all tiers point at. It is portable code, compiled once
// (pack.cpp): the embedding reads one row a token, so there is nothing to gain from a vector
// version.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/weight_type.hpp"

namespace r1::kernels {

/// out[k] = row `row` of a packed tensor as float32, bit for bit what decode_gguf_row gives. A
/// signed zero scale in a padding row decodes to a zero. noexcept, any thread.
template <WeightType kType>
void decode_packed_row(const std::byte* panels, std::int64_t k, std::int64_t row,
                       float* out) noexcept;

}  // namespace r1::kernels
