// Instruction tiers and the choice between them at run time.
#pragma once

#include <cstdint>

namespace r1::kernels {

struct KernelTable;

/// Weakest first. The order is that of preference on one architecture; baseline is SSE4.2 on x86-64
/// and NEON on ARM.
enum class IsaTier : std::uint8_t { baseline, avx2, avx_vnni, avx512_vnni, neon_dotprod };
inline constexpr int kIsaTierCount = 5;

/// "baseline", "avx2", "avx_vnni", "avx512_vnni", "neon_dotprod".
const char* isa_name(IsaTier tier) noexcept;
/// True when this CPU has the tier's instructions and the operating system saves its registers.
bool isa_available(IsaTier tier) noexcept;
/// The strongest available tier.
IsaTier best_isa() noexcept;
/// The kernels of `tier`, or null when this machine cannot run it.
const KernelTable* kernel_table(IsaTier tier) noexcept;

}  // namespace r1::kernels
