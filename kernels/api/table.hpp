// All kernels of one tier. Every function: single-threaded, noexcept, no allocation, any thread.
#pragma once

#include "kernels/api/args.hpp"
#include "kernels/api/isa.hpp"
#include "kernels/api/probes.hpp"
#include "kernels/api/weight_type.hpp"

namespace r1::kernels {

using MatmulFn = void (*)(const MatmulArgs&) noexcept;
/// Encodes one row of k float32 values. `out` holds encoded_row_bytes() bytes, 64-byte aligned.
using EncodeFn = void (*)(const float* x, std::int64_t k, std::byte* out) noexcept;
/// y[k] = x[k] / sqrt(mean(x^2) + eps) * w[k]. y may be x.
using RmsNormFn = void (*)(const float* x, const float* w, std::int64_t k, float eps,
                           float* y) noexcept;
/// y[k] = silu(gate[k]) * up[k]. y may be gate or up.
using SiluMulFn = void (*)(const float* gate, const float* up, std::int64_t k, float* y) noexcept;
using RopeFn = void (*)(const RopeArgs&) noexcept;
using KvWriteFn = void (*)(const KvWriteArgs&) noexcept;
using AttentionFn = void (*)(const AttentionArgs&) noexcept;
using AttentionFoldFn = void (*)(const AttentionFoldArgs&) noexcept;
/// True when all n values are finite.
using AllFiniteFn = bool (*)(const float* x, std::int64_t n) noexcept;

/// The kernels of one weight type.
struct MatrixKernels {
  MatmulFn matmul;
};

/// Everything that works on float32 activations and the KV cache.
struct FloatKernels {
  RmsNormFn rms_norm;
  SiluMulFn silu_mul;
  RopeFn rope;
  KvWriteFn kv_write[kKvTypeCount];     ///< by KvType
  AttentionFn attention[kKvTypeCount];  ///< by KvType
  AttentionFoldFn attention_fold;
  AllFiniteFn all_finite;
};

/// One tier's kernels. The parts are separate objects, so that two cores compile a tier in
/// parallel.
struct KernelTable {
  IsaTier tier;
  const MatrixKernels* matrix[kWeightTypeCount];  ///< by WeightType
  EncodeFn encode[kActivationEncodingCount];      ///< by ActivationEncoding
  const FloatKernels* floats;
  const ProbeKernels* probes;
};

}  // namespace r1::kernels
