// Reading memory in order, as fast as loads can ask for it: the limit of everything that streams
// weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/generic/prefetch.hpp"

namespace r1::kernels {
namespace {

/// ProbeKernels::read with loads of `Vector`, a vector of std::uint64_t. Eight accumulators, so
/// that no addition waits for another one.
template <class Vector>
std::uint64_t read_stream(const std::byte* data, std::int64_t bytes) noexcept {
  constexpr std::int64_t kStep = 8 * static_cast<std::int64_t>(sizeof(Vector));
  constexpr std::int64_t kLineBytes = 64;
  // One core of a Sapphire Rapids, GB/s: 11.2 without, 11.5 with 1 KiB, 15.2 with 2, 15.5 with 4
  // and 8 KiB. Past the data a prefetch does no harm.
  constexpr std::int64_t kAheadBytes = 4096;
  Vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};
  for (std::int64_t at = 0; at < bytes; at += kStep) {
    for (std::int64_t line = 0; line < kStep; line += kLineBytes) {
      prefetch(data + at + kAheadBytes + line);
    }
    const auto* vectors = reinterpret_cast<const Vector*>(data + at);
    a += vectors[0];
    b += vectors[1];
    c += vectors[2];
    d += vectors[3];
    e += vectors[4];
    f += vectors[5];
    g += vectors[6];
    h += vectors[7];
  }
  const Vector all = ((a + b) + (c + d)) + ((e + f) + (g + h));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sizeof(Vector) / sizeof(std::uint64_t); ++i) sum += all[i];
  return sum;
}

}  // namespace
}  // namespace r1::kernels
