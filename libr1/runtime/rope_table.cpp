// Fills the rotary tables. The reservation is for the longest conversation; memory is touched only
// as conversations grow.
#include "libr1/runtime/rope_table.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/api/args.hpp"

namespace r1::runtime {
namespace {

// The (fractional) pair that turns `rotations` times over the original context; arXiv:2309.00071
// appendix A.
double correction_pair(double rotations, double dim, double base, double context) {
  return dim * std::log(context / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
}

}  // namespace

RopeFrequencies rope_frequencies(const model::Config& config) {
  const std::int64_t half = config.head_dim / 2;
  const auto dim = static_cast<double>(config.head_dim);
  const model::RopeScaling& scaling = config.rope_scaling;
  RopeFrequencies result;
  for (std::int64_t pair = 0; pair < half; ++pair) {
    result.inverse.push_back(std::pow(config.rope_base, -2.0 * static_cast<double>(pair) / dim));
  }
  if (scaling.kind == model::RopeScaling::Kind::linear) {
    for (double& inverse : result.inverse) inverse /= scaling.factor;
  }
  if (scaling.kind == model::RopeScaling::Kind::yarn) {
    const double low =
        std::max(0.0, std::floor(correction_pair(scaling.beta_fast, dim, config.rope_base,
                                                 scaling.original_context)));
    const double high =
        std::min(dim - 1, std::ceil(correction_pair(scaling.beta_slow, dim, config.rope_base,
                                                    scaling.original_context)));
    for (std::int64_t pair = 0; pair < half; ++pair) {
      const double ramp =
          std::clamp((static_cast<double>(pair) - low) / std::max(high - low, 0.001), 0.0, 1.0);
      double& inverse = result.inverse[static_cast<std::size_t>(pair)];
      inverse = inverse * (1 - ramp) + inverse / scaling.factor * ramp;
    }
    result.magnitude = scaling.attention_factor * (1 + 0.1 * std::log(scaling.factor));
  }
  return result;
}

RopeTable::RopeTable(RopeFrequencies frequencies, std::int64_t positions,
                     std::vector<std::int64_t> column_pairs)
    : frequencies_(std::move(frequencies)),
      half_(static_cast<std::int64_t>(frequencies_.inverse.size())),
      positions_((positions + kernels::kPageTokens - 1) / kernels::kPageTokens *
                 kernels::kPageTokens),
      column_pairs_(std::move(column_pairs)),
      rows_(static_cast<std::size_t>(positions_ * 2 * half_) * sizeof(float), "rotary table"),
      columns_(2 * column_pairs_.size() * static_cast<std::size_t>(positions_) * sizeof(float),
               "rotary columns") {}

void RopeTable::fill(std::int64_t end) {
  // Whole pages, because kernels read columns by the page.
  const std::int64_t page_end = std::min(
      positions_, (end + kernels::kPageTokens - 1) / kernels::kPageTokens * kernels::kPageTokens);
  auto* rows = reinterpret_cast<float*>(rows_.data());
  auto* columns = reinterpret_cast<float*>(columns_.data());
  for (std::int64_t position = filled_; position < page_end; ++position) {
    float* row_cos = rows + position * 2 * half_;
    float* row_sin = row_cos + half_;
    for (std::int64_t pair = 0; pair < half_; ++pair) {
      const double angle =
          static_cast<double>(position) * frequencies_.inverse[static_cast<std::size_t>(pair)];
      row_cos[pair] = static_cast<float>(std::cos(angle) * frequencies_.magnitude);
      row_sin[pair] = static_cast<float>(std::sin(angle) * frequencies_.magnitude);
    }
    for (std::size_t i = 0; i < column_pairs_.size(); ++i) {
      columns[static_cast<std::int64_t>(2 * i) * positions_ + position] = row_cos[column_pairs_[i]];
      columns[static_cast<std::int64_t>(2 * i + 1) * positions_ + position] =
          row_sin[column_pairs_[i]];
    }
  }
  filled_ = std::max(filled_, page_end);
}

}  // namespace r1::runtime
