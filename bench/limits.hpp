// What one core or a few can do at best, measured by the tiers' probes (kernels/api/probes.hpp) in
// the process whose figures are held against it. All functions take the best of what was measured
// so far and a few short runs more: a limit is what the machine does when nothing disturbs it.
#pragma once

#include <cstdint>

#include "kernels/api/table.hpp"

namespace r1::bench {

/// Multiply-adds a second of one thread with the tier's instruction that multiplies bytes, alone.
double byte_macs_per_s(const kernels::KernelTable& table);
/// The same for float32.
double float_macs_per_s(const kernels::KernelTable& table);
/// Bytes a second at which `threads` threads together read `bytes` bytes in order, each a share of
/// its own, again and again: few bytes come from a cache. bytes: at most kMemoryBytes.
double read_bytes_per_s(const kernels::KernelTable& table, std::int64_t bytes, int threads = 1);

/// More than last-level caches hold: what read_bytes_per_s takes for memory.
inline constexpr std::int64_t kMemoryBytes = std::int64_t{512} << 20;

}  // namespace r1::bench
