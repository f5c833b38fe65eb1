// The weight types that kernels know, and how an activation row is encoded for them.
#pragma once

#include <cstdint>

namespace r1::kernels {

/// One enumerator a format. Values are indices, not GGUF ids.
enum class WeightType : std::uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  tq2_0,
};
inline constexpr int kWeightTypeCount = 16;

/// How activations are given to a matmul.
/// f32: k float32 values, padded with zeros to a multiple of 4 values.
/// q8: k int8 codes in [-127, 127]; then k/32 float32 scales; then k/16 int16 sums of 16 codes.
///     k is a multiple of 32. The encoding is the same on all tiers and never depends on m.
enum class ActivationEncoding : std::uint8_t { f32, q8 };
inline constexpr int kActivationEncodingCount = 2;

/// Static facts of a weight type.
struct FormatInfo {
  const char* name;              ///< GGUF's spelling, "Q4_K"
  std::uint32_t gguf_id;         ///< ggml type number in GGUF files
  std::int32_t block_values;     ///< values a block; a row holds whole blocks
  std::int32_t block_bytes;      ///< bytes a block in GGUF
  ActivationEncoding encoding;   ///< what matmul wants as x
  std::int32_t scale_at = 0;     ///< byte of a quantized block's f16 scale
  std::int32_t minimum_at = -1;  ///< byte of its f16 minimum or addend; -1: none
};

/// Facts of `type`. Any thread.
const FormatInfo& format_info(WeightType type) noexcept;
/// Finds a type by its GGUF id; false if there is none.
bool weight_type_from_gguf(std::uint32_t gguf_id, WeightType& out) noexcept;

}  // namespace r1::kernels
