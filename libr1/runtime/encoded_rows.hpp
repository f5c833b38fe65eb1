// Activation rows encoded for the matmuls that read them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/table.hpp"
#include "libr1/base/aligned_buffer.hpp"

namespace r1::runtime {

/// Which encodings a group of matrices wants.
struct EncodingSet {
  bool wanted[kernels::kActivationEncodingCount] = {};
  /// Encode what the int8 codes leave over as well (docs/decisions/fine-first-layer.md).
  bool fine = false;
  void add(kernels::WeightType type) {
    wanted[static_cast<int>(kernels::format_info(type).encoding)] = true;
  }
};

/// Room for `rows` rows of up to `k_max` values in every encoding. Rows of different workers may be
/// written at once.
class EncodedRows {
 public:
  EncodedRows(std::int64_t rows, std::int64_t k_max);

  /// Encodes one row of k values in each encoding of `set`. scratch: [k], used for remainders; may
  /// be x itself.
  void encode(const kernels::KernelTable& table, EncodingSet set, const float* x, std::int64_t k,
              std::int64_t row, float* scratch);
  /// First row in the encoding that `type` wants; rows lie stride(type, k) bytes apart.
  const std::byte* rows(kernels::WeightType type) const;
  /// The same rows' remainders; null for types whose encoding leaves none.
  const std::byte* remainders(kernels::WeightType type) const;
  static std::int64_t stride(kernels::WeightType type, std::int64_t k);

 private:
  base::AlignedBuffer buffers_[kernels::kActivationEncodingCount];
  base::AlignedBuffer remainders_;  ///< q8
};

}  // namespace r1::runtime
