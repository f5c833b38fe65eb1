// Picks a tier's table at run time. On architectures without a tier of their own no table is
// available.
#include "kernels/api/table.hpp"
#include "kernels/cpu_info.hpp"

namespace r1::kernels {

#if defined(__x86_64__)
// Each is defined in isa/<tier>/table.cpp.
namespace baseline {
extern const KernelTable table;
}
namespace avx2 {
extern const KernelTable table;
}
namespace avx512_vnni {
extern const KernelTable table;
}
#endif

namespace {

struct Tier {
  const char* name;
  const KernelTable* table;
};

#if defined(__x86_64__)
constexpr Tier kTiers[kIsaTierCount] = {
    {"baseline", &baseline::table}, {"avx2", &avx2::table}, {"avx512_vnni", &avx512_vnni::table}};
#else
constexpr Tier kTiers[kIsaTierCount] = {
    {"baseline", nullptr}, {"avx2", nullptr}, {"avx512_vnni", nullptr}};
#endif

const Tier& tier_of(IsaTier tier) { return kTiers[static_cast<int>(tier)]; }

}  // namespace

const char* isa_name(IsaTier tier) noexcept { return tier_of(tier).name; }

bool isa_available(IsaTier tier) noexcept {
  // CPUID traps in virtual machines, so the registers are read once.
  static const CpuFeatures features = usable_features(read_cpu());
  return tier_of(tier).table != nullptr && runs_tier(features, tier);
}

IsaTier best_isa() noexcept {
  for (int i = kIsaTierCount - 1; i > 0; --i) {
    if (isa_available(static_cast<IsaTier>(i))) return static_cast<IsaTier>(i);
  }
  return IsaTier::baseline;
}

const KernelTable* kernel_table(IsaTier tier) noexcept {
  return isa_available(tier) ? tier_of(tier).table : nullptr;
}

}  // namespace r1::kernels
