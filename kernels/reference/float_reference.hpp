// The oracle of the float32 kernels: the formulas in double precision, one loop each, with no
// regard to speed or layout. Linked by tests only. It shares nothing with the kernels, not even the
// f16 conversion.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace r1::kernels::reference {

/// The value of an IEEE 754 binary16 pattern. Exact; NaN for the NaN patterns.
double f16_value(std::uint16_t bits);
/// The binary16 pattern nearest to `value`, ties to even; from 65520 on infinity. `value` is no
/// NaN.
std::uint16_t f16_nearest(float value);

/// A row of KvType::q8 by its definition: the smallest f16 scale with 127 * scale >= every |x|, and
/// x times float32's 1 / scale to the nearest whole number, ties to even. Rows that no such scale
/// is enough for, or with a NaN, have codes of 0 and the scale 0x7e00, a NaN.
struct Q8Row {
  std::uint16_t scale = 0;  ///< f16 bits
  std::vector<int> codes;
};
Q8Row q8_row(std::span<const float> row);

/// x / sqrt(mean(x^2) + eps) * w.
std::vector<double> rms_norm(const std::vector<float>& x, const std::vector<float>& w, double eps);
/// gate / (1 + exp(-gate)) * up.
double silu_mul(float gate, float up);
/// One head rotated by the angles' cosines and sines, NEOX pairs (i, i + n/2).
std::vector<double> rope(const std::vector<float>& head, const std::vector<float>& cos,
                         const std::vector<float>& sin);

/// Softmax attention of one query to all given keys. Views only; the caller keeps the data alive.
struct AttentionCase {
  std::span<const double> q;                    ///< [head_dim]
  std::span<const std::vector<double>> keys;    ///< [positions][head_dim]
  std::span<const std::vector<double>> values;  ///< [positions][head_dim]
  double scale;
};
/// sum over p of softmax(scale * q.k[p]) * v[p], the softmax with the maximum taken out first.
std::vector<double> attention(const AttentionCase& given);

}  // namespace r1::kernels::reference
