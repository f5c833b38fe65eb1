// Picks a tier's table at run time. On architectures without a tier of their own no table is
// available.
#include "kernels/api/table.hpp"
#include "kernels/cpu_info.hpp"

namespace r1::kernels {

// Each is defined in isa/<tier>/table.cpp.
#if defined(__x86_64__)
namespace baseline {
extern const KernelTable table;
}
namespace avx2 {
extern const KernelTable table;
}
namespace avx_vnni {
extern const KernelTable table;
}
namespace avx512_vnni {
extern const KernelTable table;
}
#elif defined(__aarch64__)
namespace neon {
extern const KernelTable table;
}
namespace neon_dotprod {
extern const KernelTable table;
}
#endif

namespace {

// Both by IsaTier.
constexpr const char* kNames[kIsaTierCount] = {"baseline", "avx2", "avx_vnni", "avx512_vnni",
                                               "neon_dotprod"};
#if defined(__x86_64__)
constexpr const KernelTable* kTables[kIsaTierCount] = {
    &baseline::table, &avx2::table, &avx_vnni::table, &avx512_vnni::table, nullptr};
#elif defined(__aarch64__)
constexpr const KernelTable* kTables[kIsaTierCount] = {&neon::table, nullptr, nullptr, nullptr,
                                                       &neon_dotprod::table};
#else
constexpr const KernelTable* kTables[kIsaTierCount] = {};
#endif

const KernelTable* table_of(IsaTier tier) { return kTables[static_cast<int>(tier)]; }

}  // namespace

const char* isa_name(IsaTier tier) noexcept { return kNames[static_cast<int>(tier)]; }

bool isa_available(IsaTier tier) noexcept {
  // CPUID traps in virtual machines, so the machine is read once.
  static const CpuFeatures features = usable_features(read_cpu());
  return table_of(tier) != nullptr && runs_tier(features, tier);
}

IsaTier best_isa() noexcept {
  for (int i = kIsaTierCount - 1; i > 0; --i) {
    if (isa_available(static_cast<IsaTier>(i))) return static_cast<IsaTier>(i);
  }
  return IsaTier::baseline;
}

const KernelTable* kernel_table(IsaTier tier) noexcept {
  return isa_available(tier) ? table_of(tier) : nullptr;
}

}  // namespace r1::kernels
