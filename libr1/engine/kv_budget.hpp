// How many pages of keys and values an engine may have.
#pragma once

#include <cstdint>

#include "libr1/engine/settings.hpp"
#include "libr1/runtime/kv_layout.hpp"

namespace r1::engine {

/// Pages of a pool.
struct KvBudget {
  std::int64_t pages = 0;   ///< in all
  std::int64_t cached = 0;  ///< of these, kept though nobody uses them
};

/// With a bound given, as many pages as it holds, all of which may be cache. Else room for 64
/// conversations of full length, but at most four fifths of the `available` bytes (-1: unknown), of
/// which one conversation's may be cache. Throws Error{invalid_argument} when a given bound does
/// not hold one page.
KvBudget kv_budget(const Settings& settings, const runtime::KvLayout& layout,
                   std::int64_t available);

}  // namespace r1::engine
