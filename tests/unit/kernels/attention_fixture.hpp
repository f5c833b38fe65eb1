// What the attention tests share: the KV cache of one sequence in guarded pages, calls of the
// kernel, and the oracle's answer with a bound for the error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "kernels/reference/float_reference.hpp"
#include "tests/unit/kernels/float_test_support.hpp"

namespace r1::kernels::test {

/// KV heads of every test cache; the last one is read.
inline constexpr std::size_t kKvHeads = 2;
/// Largest relative error of one float32 operation.
inline constexpr double kRoundoff = std::numeric_limits<float>::epsilon() / 2;

/// What one attention test varies.
struct Shape {
  KvType type = KvType::f32;
  std::size_t head_dim = 64;
  std::size_t group = 1;
  std::size_t window = 0;
};

/// All types of cache, and their names.
inline constexpr KvType kKvTypes[] = {KvType::f32, KvType::f16, KvType::q8};
inline const char* type_name(KvType type) {
  constexpr const char* kNames[] = {"f32", "f16", "q8"};
  return kNames[static_cast<int>(type)];
}

/// What remains of a token's keys or values in a cache of that type.
inline std::vector<double> stored_row(KvType type, std::span<const float> row) {
  std::vector<double> result(row.begin(), row.end());
  if (type == KvType::f16) {
    for (double& value : result) {
      value = reference::f16_value(reference::f16_nearest(static_cast<float>(value)));
    }
  }
  if (type == KvType::q8) {
    const reference::Q8Row encoded = reference::q8_row(row);
    const double scale = reference::f16_value(encoded.scale);
    for (std::size_t i = 0; i < row.size(); ++i) result[i] = scale * encoded.codes[i];
  }
  return result;
}

/// The KV cache of one sequence with two layers a page, of which the second, and there the second
/// head, is the one that gets read: its V is what ends at the unreadable memory.
class Cache {
 public:
  /// k, v: [positions][head_dim], written only by write_until().
  Cache(const FloatKernels& kernels, const Shape& shape, std::vector<float> k, std::vector<float> v)
      : kernels_(kernels), shape_(shape), k_(std::move(k)), v_(std::move(v)) {}

  /// Bytes of one head's K (or V) in a page.
  std::size_t block_bytes() const {
    return static_cast<std::size_t>(
        kv_head_bytes(shape_.type, static_cast<std::int64_t>(shape_.head_dim)));
  }

  /// Writes positions up to `length` with the tier's own kernel.
  void write_until(std::size_t length) {
    const std::size_t dim = shape_.head_dim;
    for (; written_ < length; ++written_) {
      if (written_ % 16 == 0) {
        pages_.emplace_back(4 * kKvHeads * block_bytes());
        pointers_.push_back(pages_.back().data());
      }
      // The head in front gets other values, so that a wrong offset shows.
      std::vector<float> k(kKvHeads * dim, 1000.0f);
      std::vector<float> v(kKvHeads * dim, -1000.0f);
      std::copy_n(k_.begin() + offset(written_), dim, k.end() - offset(1));
      std::copy_n(v_.begin() + offset(written_), dim, v.end() - offset(1));
      kernels_.kv_write[static_cast<int>(shape_.type)](
          {.k = k.data(),
           .v = v.data(),
           .kv_heads = kKvHeads,
           .head_dim = static_cast<std::int64_t>(dim),
           .layer_page = pages_.back().data() + 2 * kKvHeads * block_bytes(),
           .slot = static_cast<std::int64_t>(written_ % 16)});
    }
  }

  /// Output rows [first, first + rows) of the sequence's queries, bias arguments taken from
  /// `extra`.
  std::vector<float> attend(const std::vector<float>& q, float scale, std::size_t first,
                            std::size_t rows, const AttentionArgs& extra = {}) const {
    const std::size_t row_size = shape_.group * shape_.head_dim;
    const auto begin = q.begin() + static_cast<std::ptrdiff_t>(first * row_size);
    const GuardedBuffer<float> guarded_q(
        std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(rows * row_size)));
    GuardedBuffer<float> out(rows * row_size);
    run(guarded_q.data(), row_size, scale, first, rows, extra, out.data());
    return out.values();
  }

  /// The same into caller's memory, with `stride` floats from row to row of both q and out.
  void run(const float* q, std::size_t stride, float scale, std::size_t first, std::size_t rows,
           const AttentionArgs& extra, float* out) const {
    AttentionArgs args = extra;
    args.q = q;
    args.q_stride = static_cast<std::int64_t>(stride);
    args.rows = static_cast<std::int64_t>(rows);
    args.group = static_cast<std::int64_t>(shape_.group);
    args.head_dim = static_cast<std::int64_t>(shape_.head_dim);
    args.scale = scale;
    args.first_position = static_cast<std::int64_t>(first);
    args.window = static_cast<std::int64_t>(shape_.window);
    args.pages = pointers_.data();
    args.k_offset = static_cast<std::int64_t>((2 * kKvHeads + 1) * block_bytes());
    args.v_offset = static_cast<std::int64_t>((3 * kKvHeads + 1) * block_bytes());
    if (extra.bias_q != nullptr) {
      args.bias_q =
          extra.bias_q + first * shape_.group * static_cast<std::size_t>(extra.bias_terms);
    }
    args.out = out;
    args.out_stride = static_cast<std::int64_t>(stride);
    GuardedBuffer<std::byte> scratch(kAttentionScratchBytes);
    args.scratch = scratch.data();
    kernels_.attention[static_cast<int>(shape_.type)](args);
  }

 private:
  std::ptrdiff_t offset(std::size_t position) const {
    return static_cast<std::ptrdiff_t>(position * shape_.head_dim);
  }

  const FloatKernels& kernels_;
  Shape shape_;
  std::vector<float> k_;
  std::vector<float> v_;
  std::vector<GuardedBuffer<std::byte>> pages_;
  std::vector<const std::byte*> pointers_;
  std::size_t written_ = 0;
};

/// The oracle's output of one query vector and how far a kernel may be off.
struct Expected {
  std::vector<double> out;
  double tolerance = 0.0;
};

/// The stored keys and values in double, and what attention to them gives.
class Oracle {
 public:
  /// k, v: [positions][head_dim] before storing. `added`, if any, is added to the stored keys.
  Oracle(const Shape& shape, const std::vector<float>& k, const std::vector<float>& v,
         const std::vector<double>& added = {})
      : shape_(shape) {
    const std::size_t dim = shape.head_dim;
    for (std::size_t begin = 0; begin < k.size(); begin += dim) {
      std::vector<double>& key =
          keys_.emplace_back(stored_row(shape.type, std::span(k).subspan(begin, dim)));
      std::vector<double>& size = key_sizes_.emplace_back(dim);
      values_.push_back(stored_row(shape.type, std::span(v).subspan(begin, dim)));
      for (std::size_t d = 0; d < dim; ++d) {
        const double extra = added.empty() ? 0.0 : added[begin + d];
        key[d] += extra;
        size[d] = std::fabs(key[d]) + std::fabs(extra);
      }
    }
  }

  /// All heads of rows [first, first + rows); q as in Cache::attend.
  std::vector<Expected> expect(const std::vector<float>& q, double scale, std::size_t first,
                               std::size_t rows) const {
    std::vector<Expected> result;
    for (std::size_t i = 0; i < rows * shape_.group; ++i) {
      const std::size_t vector = first * shape_.group + i;
      const auto begin = q.begin() + static_cast<std::ptrdiff_t>(vector * shape_.head_dim);
      const std::vector<double> query(begin, begin + static_cast<std::ptrdiff_t>(shape_.head_dim));
      result.push_back(expect_one(query, scale, vector / shape_.group));
    }
    return result;
  }

 private:
  // The bound follows from the norms: each score is a chain of head_dim multiply-adds (two
  // roundings where there is no fma) and a few more operations; the weighted sum is a chain over
  // the visible positions.
  Expected expect_one(const std::vector<double>& q, double scale, std::size_t position) const {
    const std::size_t first =
        shape_.window > 0 && position + 1 > shape_.window ? position + 1 - shape_.window : 0;
    double score_size = 0.0;
    double value_size = 0.0;
    for (std::size_t p = first; p <= position; ++p) {
      double size = 0.0;
      for (std::size_t d = 0; d < q.size(); ++d) {
        size += std::fabs(q[d]) * key_sizes_[p][d];
        value_size = std::max(value_size, std::fabs(values_[p][d]));
      }
      score_size = std::max(score_size, size * std::fabs(scale));
    }
    const std::size_t count = position + 1 - first;
    const double score_error = kRoundoff * static_cast<double>(2 * q.size() + 8) * score_size;
    const double sum_error = kRoundoff * static_cast<double>(2 * count + 16);
    return {reference::attention({.q = q,
                                  .keys = std::span(keys_).subspan(first, count),
                                  .values = std::span(values_).subspan(first, count),
                                  .scale = scale}),
            2.0 * (score_error + sum_error) * value_size};
  }

  Shape shape_;
  std::vector<std::vector<double>> keys_;
  std::vector<std::vector<double>> key_sizes_;
  std::vector<std::vector<double>> values_;
};

/// Largest |out - expected| in the unit that `unit(expected)` gives; infinite if there is a NaN.
template <class Unit>
double worst_error(const std::vector<float>& out, const std::vector<Expected>& expected,
                   Unit unit) {
  double worst = 0.0;
  std::size_t i = 0;
  for (const Expected& vector : expected) {
    for (const double value : vector.out) {
      const double error = std::fabs(out[i++] - value) / unit(vector);
      if (std::isnan(error)) return std::numeric_limits<double>::infinity();
      worst = std::max(worst, error);
    }
  }
  return worst;
}

/// Largest error as a share of the tolerance.
inline double worst_ratio(const std::vector<float>& out, const std::vector<Expected>& expected) {
  return worst_error(out, expected, [](const Expected& vector) { return vector.tolerance; });
}

/// 1 / sqrt(head_dim).
inline float usual_scale(const Shape& shape) {
  return 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
}

}  // namespace r1::kernels::test
