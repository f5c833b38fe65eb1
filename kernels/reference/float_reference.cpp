// Double-precision formulas behind float_reference.hpp.
#include "kernels/reference/float_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace r1::kernels::reference {

double f16_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

std::uint16_t f16_nearest(float value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00);
  // Below 2^-14 the spacing stays 2^-24. Patterns of one sign are in order of value, so a rounding
  // up that reaches the next power of two needs no care.
  const int exponent = magnitude < std::ldexp(1.0, -14) ? -14 : std::ilogb(magnitude);
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + steps));
}

Q8Row q8_row(std::span<const float> row) {
  double largest = 0.0;
  bool is_usable = true;
  for (const float value : row) {
    is_usable = is_usable && std::isfinite(value);
    largest = std::max(largest, std::fabs(static_cast<double>(value)));
  }
  Q8Row result;
  result.codes.resize(row.size());
  // Patterns of positive numbers are in order of value.
  int low = 0;
  int high = 0x7c00;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (127.0 * f16_value(static_cast<std::uint16_t>(middle)) < largest) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  is_usable = is_usable && low < 0x7c00;
  result.scale = static_cast<std::uint16_t>(is_usable ? low : 0x7e00);
  if (!is_usable) return result;
  if (largest == 0.0) return result;
  const float inverse = 1.0f / static_cast<float>(f16_value(result.scale));
  for (std::size_t i = 0; i < row.size(); ++i) {
    result.codes[i] = static_cast<int>(std::nearbyintf(row[i] * inverse));
  }
  return result;
}

std::vector<double> rms_norm(const std::vector<float>& x, const std::vector<float>& w, double eps) {
  double sum = 0.0;
  for (const float value : x) sum += static_cast<double>(value) * value;
  const double root = std::sqrt(sum / static_cast<double>(x.size()) + eps);
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / root * w[i];
  return y;
}

double silu_mul(float gate, float up) {
  const double x = gate;
  return x / (1.0 + std::exp(-x)) * up;
}

std::vector<double> rope(const std::vector<float>& head, const std::vector<float>& cos,
                         const std::vector<float>& sin) {
  const std::size_t half = head.size() / 2;
  std::vector<double> y(head.size());
  for (std::size_t i = 0; i < half; ++i) {
    const double x0 = head[i];
    const double x1 = head[i + half];
    y[i] = x0 * cos[i] - x1 * sin[i];
    y[i + half] = x0 * sin[i] + x1 * cos[i];
  }
  return y;
}

std::vector<double> attention(const AttentionCase& given) {
  std::vector<double> scores;
  for (const std::vector<double>& key : given.keys) {
    double score = 0.0;
    for (std::size_t d = 0; d < key.size(); ++d) score += given.q[d] * key[d];
    scores.push_back(score * given.scale);
  }
  const double highest = *std::max_element(scores.begin(), scores.end());
  double total = 0.0;
  std::vector<double> out(given.q.size(), 0.0);
  for (std::size_t p = 0; p < scores.size(); ++p) {
    const double weight = std::exp(scores[p] - highest);
    total += weight;
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += weight * given.values[p][d];
  }
  for (double& value : out) value /= total;
  return out;
}

}  // namespace r1::kernels::reference
