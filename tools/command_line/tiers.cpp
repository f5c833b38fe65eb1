// Which tiers there are, and which of them this CPU can run.
#include "tools/command_line/tiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "r1/system.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/usage_error.hpp"

namespace r1_tools {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string joined_tiers(bool only_available) {
  std::string names;
  for (const r1::IsaSupport& tier : r1::isa_tiers()) {
    if (only_available && !tier.available) continue;
    names += (names.empty() ? "" : ", ") + tier.name;
  }
  return names;
}

}  // namespace

std::string version_text(const std::string& isa) {
  const std::vector<r1::IsaSupport> tiers = r1::isa_tiers();
  std::string in_use = isa;
  if (in_use.empty()) {
    for (const r1::IsaSupport& tier : tiers) {
      if (tier.available) in_use = tier.name;
    }
  }
  std::string text = fmt::format("{} {}\n", kProgram, r1::version());
  for (const r1::IsaSupport& tier : tiers) {
    text += fmt::format("isa {}: {}\n", tier.name,
                        tier.name == in_use ? "in use"
                        : tier.available    ? "available"
                                            : "not on this CPU");
  }
  return text + fmt::format("compiler: {}\n", compiler());
}

void check_isa(const std::string& isa) {
  if (isa.empty()) return;
  const std::vector<r1::IsaSupport> tiers = r1::isa_tiers();
  const auto tier = std::find_if(tiers.begin(), tiers.end(),
                                 [&](const r1::IsaSupport& entry) { return entry.name == isa; });
  if (tier == tiers.end()) {
    throw UsageError(fmt::format("--isa: expected one of {}, got '{}'", joined_tiers(false), isa));
  }
  if (!tier->available) {
    throw std::runtime_error(
        fmt::format("--isa: this CPU cannot run {}, only {}", isa, joined_tiers(true)));
  }
}

void check_cpu() {
  if (!joined_tiers(true).empty()) return;
  throw std::runtime_error(fmt::format(
      "isa: this CPU runs none of {}: the weakest of them needs SSE4.2 (any x86-64 CPU since 2011)",
      joined_tiers(false)));
}

}  // namespace r1_tools
