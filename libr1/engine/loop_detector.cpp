// A window over the last ids and a counter for each distance; one pass over both for a token, which
// the compiler vectorises. Exact, so that no hash can call a loop what is none.
#include "libr1/engine/loop_detector.hpp"

#include <algorithm>

namespace r1::engine {
namespace {

constexpr std::size_t kWindow = static_cast<std::size_t>(LoopDetector::kPeriodMax);
// The window slides through a buffer and is moved back once in so many tokens.
constexpr std::size_t kBuffer = 4 * kWindow;
constexpr std::int32_t kSameMax = std::int32_t{1} << 30;
constexpr TokenId kNone = -1;

}  // namespace

void LoopDetector::reset(const LoopRule& rule) {
  same_.assign(kWindow, 0);
  needed_.resize(kWindow);
  for (std::size_t i = 0; i < kWindow; ++i) {
    const std::int64_t period = kPeriodMax - static_cast<std::int64_t>(i);
    needed_[i] = static_cast<std::int32_t>(std::max(rule.tokens, rule.repeats * period) - period);
  }
  ids_.assign(kBuffer, kNone);
  begin_ = 0;
}

bool LoopDetector::feed(TokenId id) {
  if (begin_ + kWindow == kBuffer) {
    std::copy(ids_.end() - static_cast<std::ptrdiff_t>(kWindow), ids_.end(), ids_.begin());
    begin_ = 0;
  }
  const TokenId* before = ids_.data() + begin_;
  std::int32_t* same = same_.data();
  const std::int32_t* needed = needed_.data();
  std::int32_t loops = 0;
  for (std::size_t i = 0; i < kWindow; ++i) {
    same[i] = before[i] == id ? std::min(same[i] + 1, kSameMax) : 0;
    loops |= static_cast<std::int32_t>(same[i] >= needed[i]);
  }
  ids_[begin_ + kWindow] = id;
  ++begin_;
  return loops != 0;
}

}  // namespace r1::engine
