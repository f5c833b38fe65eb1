// Asking for memory ahead of its use. By assembly: GCC takes a function that does nothing but
// __builtin_prefetch for one without effects and drops its calls, which cost a third of the decode
// speed before anybody saw it (docs/decisions/prefetch-by-assembly.md).
#pragma once

namespace r1::kernels {
namespace {

/// Bytes ahead of their use that a stream of weights is asked for: a core's outstanding lines times
/// their latency is some 2 KB, and what is asked for twice as early is there in time
/// (bench/matmul_bench.cpp).
inline constexpr int kPrefetchBytes = 4096;

/// Brings the cache line at p into the first-level cache. p may be any address.
[[gnu::always_inline]] inline void prefetch(const void* p) noexcept {
#if defined(__x86_64__)
  __asm__ volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(p)));
#elif defined(__aarch64__)
  __asm__ volatile("prfm pldl1keep, %0" : : "Q"(*static_cast<const char*>(p)));
#else
  __builtin_prefetch(p);
#endif
}

}  // namespace
}  // namespace r1::kernels
