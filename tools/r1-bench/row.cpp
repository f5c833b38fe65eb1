// Percentiles of samples.
#include "tools/r1-bench/row.hpp"

#include <algorithm>
#include <cmath>

namespace r1_tools {
namespace {

/// Percentile of sorted samples, linear between neighbours.
double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - std::floor(at));
}

}  // namespace

void set_speed(Row& row, std::vector<double> tokens_per_s) {
  std::sort(tokens_per_s.begin(), tokens_per_s.end());
  row.tokens_per_s_median = percentile(tokens_per_s, 0.5);
  row.tokens_per_s_p5 = percentile(tokens_per_s, 0.05);
  row.tokens_per_s_p95 = percentile(tokens_per_s, 0.95);
  row.value = row.tokens_per_s_median;
  row.unit = "token/s";
}

}  // namespace r1_tools
