// An independent reading of the GGUF weight formats, for tests only: each value on its own,
// straight from the bytes of its block, in the order of the format's description and not of our
// packing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/weight_type.hpp"

namespace r1::kernels::reference {

/// A weight is product + addend; the addend is -0 in formats that have one term only.
template <class Real>
struct Terms {
  Real product;
  Real addend;
};

/// Value `index` of a GGUF row. Real = float: with the roundings of the format's reference
/// dequantization, so that product + addend has its very bits. Real = double: exact.
template <class Real>
Terms<Real> decode_terms(WeightType type, const std::byte* row, std::int64_t index);

}  // namespace r1::kernels::reference
