// Cosines and sines of rotary position embedding (arXiv:2104.09864), with YaRN (arXiv:2309.00071).
#pragma once

#include <cstdint>
#include <vector>

#include "libr1/base/aligned_buffer.hpp"
#include "libr1/model/config.hpp"

namespace r1::runtime {

/// Frequencies of the pairs and the factor on cos and sin.
struct RopeFrequencies {
  std::vector<double> inverse;  ///< [head_dim / 2] radians a position
  double magnitude = 1;         ///< YaRN's attention factor
};

/// Frequencies for `config`, scaling included.
RopeFrequencies rope_frequencies(const model::Config& config);

/// Tables over positions, filled as positions come up. Angles are computed in double, so that they
/// hold at large positions. One thread fills, any may read what is filled.
class RopeTable {
 public:
  /// `positions`: the most that will be asked for. `column_pairs`: pairs for which a column is kept
  /// too.
  RopeTable(RopeFrequencies frequencies, std::int64_t positions,
            std::vector<std::int64_t> column_pairs);

  /// Fills positions [0, end).
  void fill(std::int64_t end);
  /// cos of one position: [head_dim / 2].
  const float* cos(std::int64_t position) const { return row(position); }
  const float* sin(std::int64_t position) const { return row(position) + half_; }
  /// cos of the i-th of `column_pairs` over positions, whole pages readable.
  const float* cos_column(std::size_t i) const { return column(2 * i); }
  const float* sin_column(std::size_t i) const { return column(2 * i + 1); }

 private:
  const float* row(std::int64_t position) const {
    return reinterpret_cast<const float*>(rows_.data()) + position * 2 * half_;
  }
  const float* column(std::size_t i) const {
    return reinterpret_cast<const float*>(columns_.data()) +
           static_cast<std::int64_t>(i) * positions_;
  }

  RopeFrequencies frequencies_;
  std::int64_t half_;
  std::int64_t positions_;  ///< rounded up to whole pages
  std::vector<std::int64_t> column_pairs_;
  std::int64_t filled_ = 0;
  base::AlignedBuffer rows_;     ///< [positions][cos half, sin half]
  base::AlignedBuffer columns_;  ///< [2 * column_pairs][positions]
};

}  // namespace r1::runtime
