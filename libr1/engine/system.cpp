// Facts about the build and the machine.
#include "r1/system.hpp"

#include "kernels/api/isa.hpp"
#include "libr1/base/memory_info.hpp"

namespace r1 {

std::string version() { return R1_VERSION; }

std::vector<IsaSupport> isa_tiers() {
  std::vector<IsaSupport> tiers;
  for (int i = 0; i < kernels::kIsaTierCount; ++i) {
    const auto tier = static_cast<kernels::IsaTier>(i);
    tiers.push_back({kernels::isa_name(tier), kernels::isa_available(tier)});
  }
  return tiers;
}

std::int64_t peak_memory_bytes() { return base::process_memory().rss_peak; }

}  // namespace r1
