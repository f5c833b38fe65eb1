// Instruction tiers on the command line and in --version.
#pragma once

#include <string>

namespace r1_tools {

/// What --version prints. `isa`: the tier asked for, empty for the best.
std::string version_text(const std::string& isa);

/// Throws UsageError when `isa` is not a tier of this build, std::runtime_error when this CPU lacks
/// it.
void check_isa(const std::string& isa);

/// Throws std::runtime_error when this CPU can run no tier at all.
void check_cpu();

}  // namespace r1_tools
