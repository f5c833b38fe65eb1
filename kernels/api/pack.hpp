// From GGUF rows to packed panels, back to floats, and the sizes of both. Portable code, one
// version for all tiers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/args.hpp"
#include "kernels/api/weight_type.hpp"

namespace r1::kernels {

/// Bytes of one GGUF row of k values; k is a multiple of the format's block_values.
std::int64_t gguf_row_bytes(WeightType type, std::int64_t k) noexcept;
/// Bytes of one packed panel (16 rows x k), a multiple of 64. At most 16 GGUF rows + 1 % (k >=
/// 1024).
std::int64_t panel_bytes(WeightType type, std::int64_t k) noexcept;
/// Packs `row_count` (1..16) GGUF rows that lie one after the other; the panel's other rows become
/// zeros.
void pack_panel(WeightType type, const std::byte* rows, std::int64_t row_count, std::int64_t k,
                std::byte* panel) noexcept;
/// out[k] = one GGUF row as float32, bit for bit as the format defines it. `row` needs no
/// alignment.
void decode_gguf_row(WeightType type, const std::byte* row, std::int64_t k, float* out) noexcept;
/// out[k] = row `row` of packed panels as float32: what decode_gguf_row gives, bit for bit, and
/// what matmul multiplies with. A signed zero scale in a padding row decodes to a zero. One version
/// for all tiers: the embedding reads one row a token, so a vector version has nothing to gain.
void decode_packed_row(WeightType type, const std::byte* panels, std::int64_t k, std::int64_t row,
                       float* out) noexcept;
/// Bytes of one encoded activation row, a multiple of 64.
std::int64_t encoded_row_bytes(ActivationEncoding encoding, std::int64_t k) noexcept;

}  // namespace r1::kernels
