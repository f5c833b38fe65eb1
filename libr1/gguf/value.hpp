// A metadata value with its exact type: what the writer takes and what a tool that copies metadata
// reads.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace r1::gguf {

/// Every metadata type of GGUF and every array of them (arrays of arrays are not supported). A
/// vector is an array even when it is empty.
using Value =
    std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                 std::int32_t, float, bool, std::string, std::uint64_t, std::int64_t, double,
                 std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::uint16_t>,
                 std::vector<std::int16_t>, std::vector<std::uint32_t>, std::vector<std::int32_t>,
                 std::vector<float>, std::vector<bool>, std::vector<std::string>,
                 std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;

}  // namespace r1::gguf
