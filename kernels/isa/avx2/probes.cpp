// Probes of the avx2 tier. Assembly, because compilers keep vectors in memory now and then, which
// would be measured instead. Registers are cleared first: what they held might be subnormal.
#include "kernels/api/probes.hpp"

#include "kernels/generic/read_stream.hpp"
#include "kernels/isa/avx2/float_probe.hpp"

namespace r1::kernels::avx2 {
namespace {

void multiply_bytes(std::int64_t rounds) noexcept {
  for (std::int64_t i = 0; i < rounds; ++i) {
    __asm__ volatile(
        "vpxor %%ymm15,%%ymm15,%%ymm15\n"
        ".irp chain,0,1,2,3,4,5,6,7,8,9,10,11\n"
        "vpmaddubsw %%ymm15,%%ymm15,%%ymm\\chain\n"
        ".endr\n" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
              "xmm10", "xmm11", "xmm15");
  }
}

}  // namespace

extern const ProbeKernels probes;
constexpr ProbeKernels probes = {
    .bytes = {.run = multiply_bytes, .macs = kChains * 32, .available = nullptr},
    .floats = {.run = multiply_floats, .macs = kChains * 8, .available = nullptr},
    .bf16 = {},
    .read = read_stream<Vector>,
};

}  // namespace r1::kernels::avx2
