// y = x W^T + b over a team: matrices that share an input run as one region.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/api/table.hpp"
#include "libr1/base/shared_range.hpp"
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

/// Computes the panels of all parts that `worker` takes from `work`, for rows [0, m) of x; `fine`
/// multiplies the remainders of the encoding as well. No barrier inside; who computes what does not
/// change any bit of the result.
void linear(const kernels::KernelTable& table, const base::Worker& worker, base::SharedRange& work,
            const EncodedRows& x, std::int64_t m, std::span<const LinearPart> parts,
            bool fine = false) noexcept;

/// Floats of scratch that each worker of gated_linear needs for up to rows_max rows of n columns.
std::int64_t gated_scratch(std::int64_t rows_max, std::int64_t n);

/// gate.y[m, n] = silu(x gate^T) * (x up^T), in the same manner: both matrices by the same panels,
/// so that the product needs no barrier and `up` no buffer of its own.
void gated_linear(const kernels::KernelTable& table, const base::Worker& worker,
                  base::SharedRange& work, const EncodedRows& x, std::int64_t m,
                  const LinearPart& gate, const model::Matrix& up, float* scratch,
                  bool fine = false) noexcept;

}  // namespace r1::runtime
