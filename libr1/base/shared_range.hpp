// Work that a team's members take portions of, larger ones first: whoever is slowed down by
// something else on its CPU takes fewer (docs/decisions/thread-team.md).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "libr1/base/thread_team.hpp"

namespace r1::base {

/// [0, total) in falling portions. take() may be called by any member at once.
class SharedRange {
 public:
  /// Starts anew. Nobody may be taking.
  void reset() noexcept { next_.store(0, std::memory_order_relaxed); }

  /// The next portion: half of `worker`'s share of what is left, a multiple of `grain`; empty when
  /// nothing is left. All members give the same total and grain.
  Range take(const Worker& worker, std::int64_t total, std::int64_t grain) noexcept {
    const std::int64_t parts = worker.count() == 1 ? 1 : 2 * worker.count();
    std::int64_t begin = next_.load(std::memory_order_relaxed);
    std::int64_t end = 0;
    do {
      if (begin >= total) return {total, total};
      const std::int64_t grains = (total - begin + grain * parts - 1) / (grain * parts);
      end = std::min(begin + grains * grain, total);
    } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    return {begin, end};
  }

 private:
  alignas(64) std::atomic<std::int64_t> next_{0};
};

}  // namespace r1::base
