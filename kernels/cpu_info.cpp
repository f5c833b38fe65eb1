// CPUID and XGETBV by hand: the compiler's own test (__builtin_cpu_supports) cannot be fed made-up
// registers, and some versions of it do not look at XCR0 for each feature.
#include "kernels/cpu_info.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace r1::kernels {
namespace {

constexpr bool has_bit(std::uint64_t word, int bit) { return (word >> bit & 1) != 0; }

// Leaf 1, ECX.
constexpr int kSsse3 = 9;
constexpr int kFma = 12;
constexpr int kSse41 = 19;
constexpr int kSse42 = 20;
constexpr int kOsxsave = 27;
constexpr int kAvx = 28;
constexpr int kF16c = 29;
// Leaf 7, EBX.
constexpr int kAvx2 = 5;
constexpr int kAvx512f = 16;
constexpr int kAvx512dq = 17;
constexpr int kAvx512cd = 28;
constexpr int kAvx512bw = 30;
constexpr int kAvx512vl = 31;
// Leaf 7, ECX.
constexpr int kAvx512vnni = 11;
// Leaf 7.1, EAX.
constexpr int kAvxVnni = 4;

// AT_HWCAP on AArch64 (Linux, arch/arm64/include/uapi/asm/hwcap.h).
constexpr int kAsimd = 1;
constexpr int kAsimddp = 20;

constexpr std::uint64_t kXmmYmm = 0x6;
constexpr std::uint64_t kXmmYmmZmm = 0xe6;

}  // namespace

CpuSnapshot read_cpu() noexcept {
  CpuSnapshot cpu;
#if defined(__x86_64__)
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
  __cpuid(0, eax, ebx, ecx, edx);
  cpu.max_leaf = eax;
  if (cpu.max_leaf >= 1) {
    __cpuid(1, eax, ebx, ecx, edx);
    cpu.leaf1_ecx = ecx;
  }
  if (cpu.max_leaf >= 7) {
    __cpuid_count(7, 0, eax, ebx, ecx, edx);
    cpu.leaf7_ebx = ebx;
    cpu.leaf7_ecx = ecx;
    if (eax >= 1) {
      __cpuid_count(7, 1, eax, ebx, ecx, edx);
      cpu.leaf7_1_eax = eax;
    }
  }
  if (has_bit(cpu.leaf1_ecx, kOsxsave)) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    cpu.xcr0 = static_cast<std::uint64_t>(high) << 32 | low;
  }
#elif defined(__aarch64__)
  cpu.hwcap = getauxval(AT_HWCAP);
#endif
  return cpu;
}

CpuFeatures usable_features(const CpuSnapshot& cpu) noexcept {
  const std::uint32_t ecx = cpu.leaf1_ecx;
  const bool saved = has_bit(ecx, kOsxsave);
  const bool avx = has_bit(ecx, kAvx) && saved && (cpu.xcr0 & kXmmYmm) == kXmmYmm;
  const bool leaf7 = cpu.max_leaf >= 7;
  CpuFeatures out;
  out.sse42 = has_bit(ecx, kSsse3) && has_bit(ecx, kSse41) && has_bit(ecx, kSse42);
  out.avx2 = avx && leaf7 && has_bit(cpu.leaf7_ebx, kAvx2);
  out.fma = avx && has_bit(ecx, kFma);
  out.f16c = avx && has_bit(ecx, kF16c);
  out.avxvnni = out.avx2 && has_bit(cpu.leaf7_1_eax, kAvxVnni);
  const bool zmm = avx && leaf7 && (cpu.xcr0 & kXmmYmmZmm) == kXmmYmmZmm;
  out.avx512f = zmm && has_bit(cpu.leaf7_ebx, kAvx512f);
  out.avx512bw = out.avx512f && has_bit(cpu.leaf7_ebx, kAvx512bw);
  out.avx512dq = out.avx512f && has_bit(cpu.leaf7_ebx, kAvx512dq);
  out.avx512vl = out.avx512f && has_bit(cpu.leaf7_ebx, kAvx512vl);
  out.avx512cd = out.avx512f && has_bit(cpu.leaf7_ebx, kAvx512cd);
  out.avx512vnni = out.avx512f && has_bit(cpu.leaf7_ecx, kAvx512vnni);
  out.neon = has_bit(cpu.hwcap, kAsimd);
  out.dotprod = out.neon && has_bit(cpu.hwcap, kAsimddp);
  return out;
}

bool runs_tier(const CpuFeatures& features, IsaTier tier) noexcept {
  const bool avx2 = features.sse42 && features.avx2 && features.fma && features.f16c;
  switch (tier) {
    case IsaTier::baseline:
      return features.sse42 || features.neon;
    case IsaTier::avx2:
      return avx2;
    case IsaTier::avx_vnni:
      return avx2 && features.avxvnni;
    case IsaTier::avx512_vnni:
      return avx2 && features.avx512f && features.avx512bw && features.avx512dq &&
             features.avx512vl && features.avx512cd && features.avx512vnni;
    case IsaTier::neon_dotprod:
      return features.dotprod;
  }
  return false;
}

}  // namespace r1::kernels
