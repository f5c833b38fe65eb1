// Double-precision dot products over encoded activations.
#include "kernels/reference/matmul.hpp"

#include <cmath>
#include <cstring>

#include "kernels/reference/decode.hpp"

namespace r1::kernels::reference {

std::vector<double> encoded_values(ActivationEncoding encoding, const std::byte* row,
                                   std::int64_t k) {
  std::vector<double> out(static_cast<std::size_t>(k));
  const auto pad = [](std::int64_t n) { return (n + 63) / 64 * 64; };
  for (std::int64_t i = 0; i < k; ++i) {
    float scale = 0;
    if (encoding == ActivationEncoding::f32) {
      std::memcpy(&scale, row + 4 * i, 4);
      out[static_cast<std::size_t>(i)] = scale;
    } else {
      std::memcpy(&scale, row + pad(k) + i / 32 * 4, 4);
      const auto code = static_cast<signed char>(row[i]);
      out[static_cast<std::size_t>(i)] = static_cast<double>(scale) * code;
    }
  }
  return out;
}

std::vector<DotProduct> matmul(WeightType type, const std::byte* rows, std::int64_t n,
                               const std::vector<std::vector<double>>& x) {
  const FormatInfo& info = format_info(type);
  const auto k = static_cast<std::int64_t>(x.front().size());
  std::vector<DotProduct> out(x.size() * static_cast<std::size_t>(n));
  std::vector<Terms<double>> weights(static_cast<std::size_t>(k));
  for (std::int64_t column = 0; column < n; ++column) {
    const std::byte* row = rows + column * (k / info.block_values * info.block_bytes);
    for (std::int64_t i = 0; i < k; ++i) {
      weights[static_cast<std::size_t>(i)] = decode_terms<double>(type, row, i);
    }
    for (std::size_t r = 0; r < x.size(); ++r) {
      DotProduct& dot = out[r * static_cast<std::size_t>(n) + static_cast<std::size_t>(column)];
      dot = {0, 0};
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const Terms<double>& w = weights[i];
        dot.value += x[r][i] * (w.product + w.addend);
        dot.magnitude += std::abs(x[r][i]) * (std::abs(w.product) + std::abs(w.addend));
      }
    }
  }
  return out;
}

}  // namespace r1::kernels::reference
