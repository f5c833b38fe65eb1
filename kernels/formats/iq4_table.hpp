// The 16 values that the 4-bit codes of IQ4_NL and IQ4_XS stand for (the format's constants, fitted
// by its authors to normally distributed weights).
#pragma once

#include <cstdint>

namespace r1::kernels {
namespace {

alignas(16) inline constexpr std::int8_t kIq4Values[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/// The same plus 128, unsigned.
alignas(16) inline constexpr std::uint8_t kIq4Biased[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                                            129, 141, 153, 166, 181, 197, 217, 241};

}  // namespace
}  // namespace r1::kernels
