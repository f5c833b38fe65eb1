// What a fuzz target gives to the driver besides LLVMFuzzerTestOneInput.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// One run of the target. Must neither throw nor abort on any input; a broken promise ends in
/// std::abort(). Returns 0. libFuzzer's entry point, so `clang++ -fsanitize=fuzzer` can drive a
/// target as well.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace r1::fuzz {

/// Inputs to mutate. Built in code, so that a target needs no files. A target that does not define
/// it starts from random bytes.
std::vector<std::string> seeds();

}  // namespace r1::fuzz
