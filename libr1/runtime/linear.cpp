// Splits panels over workers, and rows into blocks whose activations stay in the second-level cache.
#include "libr1/runtime/linear.hpp"

#include <algorithm>

#include "kernels/api/pack.hpp"

namespace r1::runtime {
namespace {

// Encoded rows of one block: what a core's second-level cache (1 to 2 MB, at least 256 KB on old CPUs)
// holds beside a panel.
constexpr std::int64_t kRowBlockBytes = 384 << 10;
constexpr std::int64_t kRowBlockMin = 16;

std::int64_t panel_count(const model::Matrix& w) {
  return (w.n + kernels::kPanelRows - 1) / kernels::kPanelRows;
}

void multiply(const kernels::KernelTable& table, const LinearPart& part, base::Range panels,
              const EncodedRows& x, std::int64_t m) noexcept {
  const model::Matrix& w = *part.w;
  kernels::MatmulArgs args{};
  args.panels = w.panels;
  args.n = w.n;
  args.k = w.k;
  args.panel_begin = panels.begin;
  args.panel_end = panels.end;
  args.x_stride = EncodedRows::stride(w.type, w.k);
  args.y_stride = part.y_stride;
  args.bias = part.bias;
  const std::int64_t block = std::max(kRowBlockMin, kRowBlockBytes / args.x_stride);
  for (std::int64_t row = 0; row < m; row += block) {
    args.x = x.rows(w.type) + row * args.x_stride;
    args.m = std::min(block, m - row);
    args.y = part.y + row * part.y_stride;
    args.residual = part.residual == nullptr ? nullptr : part.residual + row * part.y_stride;
    table.matrix[static_cast<int>(w.type)]->matmul(args);
  }
}

}  // namespace

void linear(const kernels::KernelTable& table, const base::Worker& worker, const EncodedRows& x,
            std::int64_t m, std::span<const LinearPart> parts) noexcept {
  std::int64_t total = 0;
  for (const LinearPart& part : parts) total += panel_count(*part.w);
  const base::Range mine = worker.slice(total);
  std::int64_t first = 0;
  for (const LinearPart& part : parts) {
    const std::int64_t count = panel_count(*part.w);
    const base::Range panels{std::clamp(mine.begin - first, std::int64_t{0}, count),
                             std::clamp(mine.end - first, std::int64_t{0}, count)};
    if (panels.begin < panels.end) multiply(table, part, panels, x, m);
    first += count;
  }
}

}  // namespace r1::runtime
