// Splits panels over workers, and rows into blocks whose activations stay in the second-level
// cache.
#include "libr1/runtime/linear.hpp"

#include <algorithm>

#include "kernels/api/pack.hpp"

namespace r1::runtime {
namespace {

// Encoded rows of one block: what a core's second-level cache (1 to 2 MB, at least 256 KB on old
// CPUs) holds beside a panel.
constexpr std::int64_t kRowBlockBytes = 384 << 10;
constexpr std::int64_t kRowBlockMin = 16;

std::int64_t panel_count(const model::Matrix& w) {
  return (w.n + kernels::kPanelRows - 1) / kernels::kPanelRows;
}

// Panels that stay in the second-level cache between the codes and the remainders.
constexpr std::int64_t kFinePanels = 8;

void multiply(const kernels::KernelTable& table, const LinearPart& part, base::Range panels,
              const EncodedRows& x, std::int64_t m, bool fine) noexcept {
  const model::Matrix& w = *part.w;
  const auto matmul = table.matrix[static_cast<int>(w.type)]->matmul;
  const std::byte* remainders = fine ? x.remainders(w.type) : nullptr;
  kernels::MatmulArgs args{};
  args.panels = w.panels;
  args.n = w.n;
  args.k = w.k;
  args.x_stride = EncodedRows::stride(w.type, w.k);
  args.y_stride = part.y_stride;
  const std::int64_t block = std::max(kRowBlockMin, kRowBlockBytes / args.x_stride);
  const std::int64_t step = remainders == nullptr ? panels.end - panels.begin : kFinePanels;
  for (std::int64_t row = 0; row < m; row += block) {
    args.m = std::min(block, m - row);
    args.y = part.y + row * part.y_stride;
    for (args.panel_begin = panels.begin; args.panel_begin < panels.end; args.panel_begin += step) {
      args.panel_end = std::min(args.panel_begin + step, panels.end);
      args.x = x.rows(w.type) + row * args.x_stride;
      args.bias = part.bias;
      args.residual = part.residual == nullptr ? nullptr : part.residual + row * part.y_stride;
      matmul(args);
      if (remainders == nullptr) continue;
      args.x = remainders + row * args.x_stride;
      args.bias = nullptr;
      args.residual = args.y;
      matmul(args);
    }
  }
}

}  // namespace

void linear(const kernels::KernelTable& table, const base::Worker& worker, const EncodedRows& x,
            std::int64_t m, std::span<const LinearPart> parts, bool fine) noexcept {
  std::int64_t total = 0;
  for (const LinearPart& part : parts) total += panel_count(*part.w);
  const base::Range mine = worker.slice(total);
  std::int64_t first = 0;
  for (const LinearPart& part : parts) {
    const std::int64_t count = panel_count(*part.w);
    const base::Range panels{std::clamp(mine.begin - first, std::int64_t{0}, count),
                             std::clamp(mine.end - first, std::int64_t{0}, count)};
    if (panels.begin < panels.end) multiply(table, part, panels, x, m, fine);
    first += count;
  }
}

}  // namespace r1::runtime
