// The build and the machine, as the library sees them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace r1 {

/// Version of the library, "MAJOR.MINOR.PATCH".
std::string version();

/// An instruction tier and whether this CPU and operating system can run it.
struct IsaSupport {
  std::string name;
  bool available = false;
};

/// All tiers of this build, weakest first.
std::vector<IsaSupport> isa_tiers();

/// Peak resident memory of this process in bytes (VmHWM).
std::int64_t peak_memory_bytes();

}  // namespace r1
