// Random weights at memory speed: a small pool of random blocks of one type, and streams of bytes
// copied out of it. Blocks are random codes under scales that give the values a wanted deviation;
// no quantizer is needed, and every code occurs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/api/weight_type.hpp"

namespace r1::model {

/// How a tensor's values are spread.
struct ValueSpread {
  float mean = 0;  ///< of float types; quantized blocks lie around 0
  float deviation = 0;
  auto operator<=>(const ValueSpread&) const = default;
};

/// An endless row of blocks, by where its pieces begin in a pool.
struct BlockStream {
  std::uint64_t start = 0;  ///< any number; chooses the first piece
  std::uint64_t step = 0;   ///< below 2^32; leads from piece to piece
};

/// Immutable; const members may be called from any thread.
class BlockPool {
 public:
  BlockPool(kernels::WeightType type, const ValueSpread& spread, std::uint64_t seed);
  /// out = bytes [begin, begin + out.size()) of a stream, begin >= 0; the same bytes in whatever
  /// ranges they are asked for.
  void copy(const BlockStream& stream, std::int64_t begin, std::span<std::byte> out) const;

 private:
  std::size_t block_bytes_;
  std::size_t piece_bytes_;
  std::uint64_t places_;  ///< blocks at which a piece can begin
  std::vector<std::byte> bytes_;
};

}  // namespace r1::model
