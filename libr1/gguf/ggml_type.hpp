// Names of ggml's tensor types, for errors about types that r1 does not run.
#pragma once

#include <cstdint>
#include <string>

namespace r1::gguf {

/// What a ggml type number is: "IQ2_XS (ggml type 17)", or "ggml type 255, which no known format
/// has".
std::string describe_ggml_type(std::uint32_t id);
/// The types that r1 runs, "F32, F16, ...", from the kernels' own list.
std::string supported_ggml_types();

}  // namespace r1::gguf
