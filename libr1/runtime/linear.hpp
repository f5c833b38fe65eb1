// y = x W^T + b over a team: matrices that share an input run as one region.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/api/table.hpp"
#include "libr1/base/thread_team.hpp"
#include "libr1/model/weights.hpp"
#include "libr1/runtime/encoded_rows.hpp"

namespace r1::runtime {

/// One matrix of a region and where its result goes.
struct LinearPart {
  const model::Matrix* w;
  float* y;  ///< [m, y_stride], columns [0, w->n) are written
  std::int64_t y_stride;
  const float* bias = nullptr;      ///< [n] or null
  const float* residual = nullptr;  ///< [m, n] with y_stride, may be y, or null
};

/// Computes `worker`'s share of all panels of all parts for rows [0, m) of x; `fine` multiplies the
/// remainders of the encoding as well. No barrier inside; the split over workers does not change
/// any bit of the result.
void linear(const kernels::KernelTable& table, const base::Worker& worker, const EncodedRows& x,
            std::int64_t m, std::span<const LinearPart> parts, bool fine = false) noexcept;

}  // namespace r1::runtime
