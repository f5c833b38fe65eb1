// Storage for encoded rows: one buffer an encoding, committed only if a model uses that encoding.
#include "libr1/runtime/encoded_rows.hpp"

#include "kernels/api/pack.hpp"

namespace r1::runtime {

using kernels::ActivationEncoding;

EncodedRows::EncodedRows(std::int64_t rows, std::int64_t k_max) {
  for (int i = 0; i < kernels::kActivationEncodingCount; ++i) {
    const auto encoding = static_cast<ActivationEncoding>(i);
    // The q8 encoding takes whole blocks of 32; a model with other widths has no such weights.
    const std::int64_t k = (k_max + 31) / 32 * 32;
    const std::int64_t bytes = rows * kernels::encoded_row_bytes(encoding, k);
    buffers_[i] = base::AlignedBuffer(static_cast<std::size_t>(bytes), "encoded activations");
  }
}

void EncodedRows::encode(const kernels::KernelTable& table, EncodingSet set, const float* x,
                         std::int64_t k, std::int64_t row) {
  for (int i = 0; i < kernels::kActivationEncodingCount; ++i) {
    if (!set.wanted[i]) continue;
    const std::int64_t bytes = kernels::encoded_row_bytes(static_cast<ActivationEncoding>(i), k);
    table.encode[i](x, k, buffers_[i].data() + row * bytes);
  }
}

const std::byte* EncodedRows::rows(kernels::WeightType type) const {
  return buffers_[static_cast<int>(kernels::format_info(type).encoding)].data();
}

std::int64_t EncodedRows::stride(kernels::WeightType type, std::int64_t k) {
  return kernels::encoded_row_bytes(kernels::format_info(type).encoding, k);
}

}  // namespace r1::runtime
