// What this CPU and operating system can run, from CPUID and XGETBV or from what Linux
// says of an ARM CPU. Reading and judging are apart, so that tests can judge made-up machines.
#pragma once

#include <cstdint>

#include "kernels/api/isa.hpp"

namespace r1::kernels {

/// What decides which instructions may be used. The other architecture's part is all zero.
struct CpuSnapshot {
  std::uint32_t max_leaf = 0;     ///< CPUID leaf 0, EAX
  std::uint32_t leaf1_ecx = 0;    ///< CPUID leaf 1, ECX
  std::uint32_t leaf7_ebx = 0;    ///< CPUID leaf 7.0, EBX; zero when max_leaf < 7
  std::uint32_t leaf7_ecx = 0;    ///< CPUID leaf 7.0, ECX
  std::uint32_t leaf7_1_eax = 0;  ///< CPUID leaf 7.1, EAX; zero when there is no such leaf
  std::uint64_t xcr0 = 0;         ///< XGETBV(0); zero when OSXSAVE is not set
  std::uint64_t hwcap = 0;        ///< ARM: getauxval(AT_HWCAP)
};

/// Instruction sets that are usable: the CPU has them and the operating system saves their
/// registers.
struct CpuFeatures {
  bool sse42 = false;  ///< with SSSE3 and SSE4.1
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  bool avxvnni = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512dq = false;
  bool avx512vl = false;
  bool avx512cd = false;
  bool avx512vnni = false;
  bool neon = false;
  bool dotprod = false;
};

/// Reads this machine. Any thread.
CpuSnapshot read_cpu() noexcept;
/// Judges a snapshot (Intel SDM volume 1, 13.3 and 15.2: AVX needs XCR0 bits 1 and 2, AVX-512 bits
/// 5 to 7 as well).
CpuFeatures usable_features(const CpuSnapshot& cpu) noexcept;
/// True when a machine with these features runs the tier's objects (cmake/R1Isa.cmake has its
/// flags).
bool runs_tier(const CpuFeatures& features, IsaTier tier) noexcept;

}  // namespace r1::kernels
