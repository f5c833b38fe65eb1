// The naive oracle of matmul, for tests only: double precision over the very activations that a
// kernel is given and the values that the weights stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/api/weight_type.hpp"

namespace r1::kernels::reference {

/// The values that an encoded activation row stands for. q8: code * scale, from the layout in
/// api/weight_type.hpp; the sums are not used.
std::vector<double> encoded_values(ActivationEncoding encoding, const std::byte* row,
                                   std::int64_t k);

/// One output and what bounds its rounding error.
struct DotProduct {
  double value;      ///< sum of x * w
  double magnitude;  ///< sum of |x| * |w|, with w's two terms taken apart where a format has two
};

/// out[m][n]: x[m][k] times n GGUF rows that lie one after the other. The weights are exact.
std::vector<DotProduct> matmul(WeightType type, const std::byte* rows, std::int64_t n,
                               const std::vector<std::vector<double>>& x);

}  // namespace r1::kernels::reference
