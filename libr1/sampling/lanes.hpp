// Passes over 16 logits at a time in the compiler's vector types, which are SSE2 or NEON registers
// in this folder's objects. Written out because compilers vectorise neither a maximum of floats nor
// a comparison that could trap unless they are told to forget about NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace r1::sampling {

using FloatLanes [[gnu::vector_size(16)]] = float;
using IntLanes [[gnu::vector_size(16)]] = std::int32_t;
using DoubleLanes [[gnu::vector_size(16)]] = double;
using LongLanes [[gnu::vector_size(16)]] = std::uint64_t;

/// Logits of one step of a pass, and the vectors that hold them.
inline constexpr std::size_t kStep = 16;
inline constexpr std::size_t kStepVectors = 4;

inline FloatLanes load_lanes(const float* p) noexcept {
  FloatLanes lanes;
  std::memcpy(&lanes, p, sizeof lanes);
  return lanes;
}

inline FloatLanes all_lanes(float x) noexcept { return FloatLanes{x, x, x, x}; }

/// The larger of two numbers.
inline FloatLanes larger(FloatLanes a, FloatLanes b) noexcept { return a > b ? a : b; }

/// True when any bit is set.
inline bool any(IntLanes mask) noexcept {
  const auto halves = reinterpret_cast<LongLanes>(mask);
  return (halves[0] | halves[1]) != 0;
}

/// Whether any of kStep values is at least `lowest`.
inline bool any_at_least(const float* values, float lowest) noexcept {
  IntLanes found{};
  for (std::size_t v = 0; v < kStepVectors; ++v) {
    found |= load_lanes(values + 4 * v) >= all_lanes(lowest);
  }
  return any(found);
}

/// What maximum_of() says.
struct Maximum {
  float value;
  bool usable;  ///< no value is NaN or +Inf
};

/// The largest of `count` values, a multiple of kStep.
inline Maximum maximum_of(const float* values, std::size_t count) noexcept {
  FloatLanes highest[kStepVectors];
  for (FloatLanes& lanes : highest) lanes = all_lanes(-std::numeric_limits<float>::infinity());
  IntLanes unusable{};
  for (std::size_t i = 0; i < count; i += kStep) {
    for (std::size_t v = 0; v < kStepVectors; ++v) {
      const FloatLanes lanes = load_lanes(values + i + 4 * v);
      highest[v] = larger(lanes, highest[v]);
      unusable |= ~(lanes <= all_lanes(std::numeric_limits<float>::max()));
    }
  }
  const FloatLanes lanes = larger(larger(highest[0], highest[1]), larger(highest[2], highest[3]));
  float value = lanes[0];
  for (int lane = 1; lane < 4; ++lane) value = lanes[lane] > value ? lanes[lane] : value;
  return {value, !any(unusable)};
}

}  // namespace r1::sampling
