// The one way a finished sum reaches y, shared by all tiles: y = (sum + bias) + residual, columns
// at or past n untouched.
#pragma once

#include <cstdint>

#include "kernels/api/args.hpp"

namespace r1::kernels {
namespace {

/// Stores the sums of one vector of columns for `rows` rows. `sums` has row r at sums + r *
/// sums_stride; first_row and first_column are those of y. Columns at or past n are not written,
/// not even read.
template <class Isa>
void store_sums(const MatmulArgs& args, const float* sums, std::int64_t sums_stride,
                std::int64_t first_row, std::int64_t rows, std::int64_t first_column) noexcept {
  const std::int64_t left = args.n - first_column;
  if (left <= 0) return;
  const bool whole = left >= Isa::kLanes;
  const int count = whole ? Isa::kLanes : static_cast<int>(left);
  const auto read = [&](const float* p) {
    return whole ? Isa::load_f32(p) : Isa::load_first(p, count);
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t at = (first_row + r) * args.y_stride + first_column;
    auto sum = Isa::load_f32(sums + r * sums_stride);
    if (args.bias != nullptr) sum = Isa::add(sum, read(args.bias + first_column));
    if (args.residual != nullptr) sum = Isa::add(sum, read(args.residual + at));
    if (whole) {
      Isa::store(args.y + at, sum);
    } else {
      Isa::store_first(args.y + at, sum, count);
    }
  }
}

}  // namespace
}  // namespace r1::kernels
