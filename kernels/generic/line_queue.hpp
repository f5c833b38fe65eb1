// Cache lines to ask for, a few at a time between pieces of work: asked for all at once they would
// hold up the loads behind them, since a core waits for a dozen lines at most.
#pragma once

#include <cstdint>

#include "kernels/generic/prefetch.hpp"

namespace r1::kernels {
namespace {

/// Blocks of memory in the order in which their lines are asked for.
class LineQueue {
 public:
  /// Adds `rows` rows of `bytes` bytes, `stride` bytes apart. At most kBlocks times.
  void add(const void* first, std::int64_t bytes, std::int64_t rows = 1,
           std::int64_t stride = 0) noexcept {
    if (rows <= 0 || bytes <= 0) return;
    const std::int64_t lines = (bytes + kLine - 1) / kLine;
    blocks_[count_++] = {static_cast<const char*>(first), lines, rows, stride};
    lines_ += static_cast<int>(lines * rows);
  }

  /// Lines that were added.
  int lines() const noexcept { return lines_; }

  /// Asks for the next `count` lines.
  void ask(int count) noexcept {
    while (count > 0 && next_ < count_) {
      const Block& block = blocks_[next_];
      const char* line = block.first + row_ * block.stride + line_ * kLine;
      const std::int64_t left = block.lines - line_;
      const std::int64_t run = left < count ? left : count;
      for (std::int64_t i = 0; i < run; ++i) prefetch(line + i * kLine);
      count -= static_cast<int>(run);
      line_ += run;
      if (line_ < block.lines) return;
      line_ = 0;
      if (++row_ < block.rows) continue;
      row_ = 0;
      ++next_;
    }
  }

 private:
  static constexpr int kBlocks = 8;
  static constexpr std::int64_t kLine = 64;
  struct Block {
    const char* first;
    std::int64_t lines, rows, stride;
  };
  Block blocks_[kBlocks];
  int count_ = 0;
  int lines_ = 0;
  int next_ = 0;
  std::int64_t row_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace
}  // namespace r1::kernels
