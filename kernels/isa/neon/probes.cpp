// Probes of the ARM baseline tier. Assembly, because compilers keep vectors in memory now and then,
// which would be measured instead. Registers are cleared first: what they held might be subnormal.
#include "kernels/api/probes.hpp"

#include "kernels/generic/read_stream.hpp"
#include "kernels/isa/neon/float_probe.hpp"

namespace r1::kernels::neon {
namespace {

void multiply_bytes(std::int64_t rounds) noexcept {
  for (std::int64_t i = 0; i < rounds; ++i) {
    __asm__ volatile(
        "movi v15.4s,#0\n"
        ".irp chain,0,1,2,3,4,5,6,7,8,9,10,11\n"
        "smlal v\\chain\\().8h,v15.8b,v15.8b\n"
        ".endr\n" ::
            : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v15");
  }
}

}  // namespace

extern const ProbeKernels probes;
constexpr ProbeKernels probes = {
    .bytes = {.run = multiply_bytes, .macs = kChains * 8, .available = nullptr},
    .floats = {.run = multiply_floats, .macs = kChains * 4, .available = nullptr},
    .bf16 = {},
    .read = read_stream<Vector>,
};

}  // namespace r1::kernels::neon
