// The float32 kernels of the tier "avx2": generic algorithms with this tier's vector operations.
#include "kernels/generic/float_ops.hpp"
#include "kernels/api/table.hpp"
#include "kernels/generic/attention.hpp"
#include "kernels/generic/kv_write.hpp"
#include "kernels/isa/avx2/float_isa.hpp"

namespace r1::kernels::avx2 {

extern const FloatKernels float_kernels;
constinit const FloatKernels float_kernels = {
    .rms_norm = &rms_norm<FloatIsa>,
    .silu_mul = &silu_mul<FloatIsa>,
    .rope = &rope<FloatIsa>,
    .kv_write = {&kv_write<FloatIsa, float>, &kv_write<FloatIsa, std::uint16_t>,
                 &kv_write_q8<FloatIsa>},
    .attention = {&attention<FloatIsa, float>, &attention<FloatIsa, std::uint16_t>,
                  &attention<FloatIsa, std::int8_t>},
    .attention_fold = &attention_fold<FloatIsa>,
    .all_finite = &all_finite<FloatIsa>,
};

}  // namespace r1::kernels::avx2
