// What the probes of the AVX2 tiers share: the float32 loop and the vector that memory is read
// with. Assembly, because compilers keep vectors in memory now and then, which would be measured
// instead. Registers are cleared first: what they held might be subnormal.
#pragma once

#include <cstdint>

namespace r1::kernels::avx2 {
namespace {

/// Independent chains of a round: more than the latency of any of the instructions takes (5 cycles,
/// two units).
inline constexpr std::int64_t kChains = 12;

/// MultiplyProbe::run of float32 fma.
inline void multiply_floats(std::int64_t rounds) noexcept {
  for (std::int64_t i = 0; i < rounds; ++i) {
    __asm__ volatile(
        "vpxor %%ymm15,%%ymm15,%%ymm15\n"
        ".irp chain,0,1,2,3,4,5,6,7,8,9,10,11\n"
        "vfmadd231ps %%ymm15,%%ymm15,%%ymm\\chain\n"
        ".endr\n" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
              "xmm10", "xmm11", "xmm15");
  }
}

/// Vector of read_stream.
using Vector = std::uint64_t __attribute__((vector_size(32)));

}  // namespace
}  // namespace r1::kernels::avx2
