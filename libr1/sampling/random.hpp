// The random numbers of the sampler: small, the same on every machine, one stream a sequence. Not
// for keys.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace r1::sampling {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): spreads a seed over a state. Advances `state`.
constexpr std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  state += 0x9E3779B97F4A7C15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// xoshiro256** 1.0 (Blackman, Vigna, ACM TOMS 2021, prng.di.unimi.it).
class Random {
 public:
  /// All 64 bits of the seed count.
  explicit constexpr Random(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) word = splitmix64(seed);
  }
  /// A given state, not all zero.
  explicit constexpr Random(const std::array<std::uint64_t, 4>& state) noexcept : state_(state) {}

  /// 64 random bits.
  constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// A whole number in [0, 2^53): divided by 2^53 it is uniform in [0, 1).
  constexpr std::uint64_t next53() noexcept { return next() >> 11; }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace r1::sampling
