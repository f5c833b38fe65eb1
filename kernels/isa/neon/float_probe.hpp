// What the probes of the ARM tiers share: the float32 loop and the vector that memory is read
// with. Assembly, because compilers keep vectors in memory now and then, which would be measured
// instead. Registers are cleared first: what they held might be subnormal.
#pragma once

#include <cstdint>

namespace r1::kernels::neon {
namespace {

/// Independent chains of a round: more than the latency of any of the instructions takes (4 cycles,
/// two units).
inline constexpr std::int64_t kChains = 12;

/// MultiplyProbe::run of float32 fma.
inline void multiply_floats(std::int64_t rounds) noexcept {
  for (std::int64_t i = 0; i < rounds; ++i) {
    __asm__ volatile(
        "movi v15.4s,#0\n"
        ".irp chain,0,1,2,3,4,5,6,7,8,9,10,11\n"
        "fmla v\\chain\\().4s,v15.4s,v15.4s\n"
        ".endr\n" ::
            : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v15");
  }
}

/// Vector of read_stream.
using Vector = std::uint64_t __attribute__((vector_size(16)));

}  // namespace
}  // namespace r1::kernels::neon
