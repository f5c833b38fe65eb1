// The demo model that the tools carry inside themselves, so that they answer with nothing
// downloaded.
#pragma once

#include <cstddef>
#include <span>

namespace r1_tools {

/// The bytes of tiny-r1 as a GGUF file (Q8_0), 64-byte aligned, alive as long as the program. Any
/// thread.
std::span<const std::byte> embedded_model();

}  // namespace r1_tools
