// The packed layout's definition in code, one code at a time, for tests only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/weight_type.hpp"

namespace r1::kernels::reference {

/// What kernels::pack_panel has to write: see there for the arguments.
void pack_panel(WeightType type, const std::byte* rows, std::int64_t row_count, std::int64_t k,
                std::byte* panel) noexcept;

}  // namespace r1::kernels::reference
