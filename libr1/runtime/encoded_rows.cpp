// Storage for encoded rows: one buffer an encoding, committed only if a model uses that encoding.
#include "libr1/runtime/encoded_rows.hpp"

#include <cstring>

#include "kernels/api/pack.hpp"

namespace r1::runtime {

using kernels::ActivationEncoding;

namespace {

constexpr int kQ8 = static_cast<int>(ActivationEncoding::q8);
constexpr std::int64_t kBlock = 32;  // values under one scale (kernels/api/weight_type.hpp)

// Encodes x minus what `codes` stand for. scratch: [k], may be x itself.
void encode_remainder(const kernels::KernelTable& table, const float* x, std::int64_t k,
                      const std::byte* codes, float* scratch, std::byte* out) {
  const std::int64_t scales_at = (k + 63) / 64 * 64;
  for (std::int64_t block = 0; block < k; block += kBlock) {
    float scale = 0;
    std::memcpy(&scale, codes + scales_at + block / kBlock * 4, sizeof scale);
    for (std::int64_t i = block; i < block + kBlock; ++i) {
      scratch[i] = x[i] - scale * static_cast<float>(static_cast<std::int8_t>(codes[i]));
    }
  }
  table.encode[kQ8](scratch, k, out);
}

}  // namespace

EncodedRows::EncodedRows(std::int64_t rows, std::int64_t k_max) {
  for (int i = 0; i < kernels::kActivationEncodingCount; ++i) {
    const auto encoding = static_cast<ActivationEncoding>(i);
    // The q8 encoding takes whole blocks of 32; a model with other widths has no such weights.
    const std::int64_t k = (k_max + 31) / 32 * 32;
    const std::int64_t bytes = rows * kernels::encoded_row_bytes(encoding, k);
    buffers_[i] = base::AlignedBuffer(static_cast<std::size_t>(bytes), "encoded activations");
    if (i == kQ8) {
      remainders_ = base::AlignedBuffer(static_cast<std::size_t>(bytes), "encoded remainders");
    }
  }
}

void EncodedRows::encode(const kernels::KernelTable& table, EncodingSet set, const float* x,
                         std::int64_t k, std::int64_t row, float* scratch) {
  for (int i = 0; i < kernels::kActivationEncodingCount; ++i) {
    if (!set.wanted[i]) continue;
    const std::int64_t bytes = kernels::encoded_row_bytes(static_cast<ActivationEncoding>(i), k);
    std::byte* out = buffers_[i].data() + row * bytes;
    table.encode[i](x, k, out);
    if (set.fine && i == kQ8) {
      encode_remainder(table, x, k, out, scratch, remainders_.data() + row * bytes);
    }
  }
}

const std::byte* EncodedRows::rows(kernels::WeightType type) const {
  return buffers_[static_cast<int>(kernels::format_info(type).encoding)].data();
}

const std::byte* EncodedRows::remainders(kernels::WeightType type) const {
  return kernels::format_info(type).encoding == ActivationEncoding::q8 ? remainders_.data()
                                                                       : nullptr;
}

std::int64_t EncodedRows::stride(kernels::WeightType type, std::int64_t k) {
  return kernels::encoded_row_bytes(kernels::format_info(type).encoding, k);
}

}  // namespace r1::runtime
