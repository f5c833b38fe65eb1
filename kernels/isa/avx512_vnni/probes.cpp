// Probes of the avx512_vnni tier. Assembly, because compilers keep vectors in memory now and then,
// which would be measured instead. Registers are cleared first: what they held might be subnormal.
#include "kernels/api/probes.hpp"

#include <cpuid.h>

#include "kernels/generic/read_stream.hpp"

namespace r1::kernels::avx512_vnni {
namespace {

// Independent chains of a round: more than the latency of any of the instructions takes (5 cycles,
// two units).
constexpr std::int64_t kChains = 12;

void multiply_bytes(std::int64_t rounds) noexcept {
  for (std::int64_t i = 0; i < rounds; ++i) {
    __asm__ volatile(
        "vpxord %%zmm15,%%zmm15,%%zmm15\n"
        ".irp chain,0,1,2,3,4,5,6,7,8,9,10,11\n"
        "vpdpbusd %%zmm15,%%zmm15,%%zmm\\chain\n"
        ".endr\n" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
              "xmm10", "xmm11", "xmm15");
  }
}

void multiply_floats(std::int64_t rounds) noexcept {
  for (std::int64_t i = 0; i < rounds; ++i) {
    __asm__ volatile(
        "vpxord %%zmm15,%%zmm15,%%zmm15\n"
        ".irp chain,0,1,2,3,4,5,6,7,8,9,10,11\n"
        "vfmadd231ps %%zmm15,%%zmm15,%%zmm\\chain\n"
        ".endr\n" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
              "xmm10", "xmm11", "xmm15");
  }
}

void multiply_bf16(std::int64_t rounds) noexcept {
  for (std::int64_t i = 0; i < rounds; ++i) {
    __asm__ volatile(
        "vpxord %%zmm15,%%zmm15,%%zmm15\n"
        ".irp chain,0,1,2,3,4,5,6,7,8,9,10,11\n"
        "vdpbf16ps %%zmm15,%%zmm15,%%zmm\\chain\n"
        ".endr\n" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
              "xmm10", "xmm11", "xmm15");
  }
}

/// AVX512_BF16 is CPUID leaf 7.1, EAX bit 5 (Intel SDM volume 2A). Its registers are the tier's.
bool has_bf16() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax >> 5 & 1) != 0;
}

using Vector = std::uint64_t __attribute__((vector_size(64)));

}  // namespace

extern const ProbeKernels probes;
constexpr ProbeKernels probes = {
    .bytes = {.run = multiply_bytes, .macs = kChains * 64, .available = nullptr},
    .floats = {.run = multiply_floats, .macs = kChains * 16, .available = nullptr},
    .bf16 = {.run = multiply_bf16, .macs = kChains * 32, .available = has_bf16},
    .read = read_stream<Vector>,
};

}  // namespace r1::kernels::avx512_vnni
