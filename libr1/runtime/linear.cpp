// Hands panels out to workers.
#include "libr1/runtime/linear.hpp"

#include <algorithm>

#include "kernels/api/pack.hpp"

namespace r1::runtime {
namespace {

std::int64_t panel_count(const model::Matrix& w) {
  return (w.n + kernels::kPanelRows - 1) / kernels::kPanelRows;
}

// Panels that stay in the second-level cache between the codes and the remainders.
constexpr std::int64_t kFinePanels = 8;

// Panels of gate and up whose results are multiplied while they are in the second-level cache.
constexpr std::int64_t kGatedPanels = 16;

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
  args.m = m;
  args.y = part.y;
  const std::int64_t step = remainders == nullptr ? panels.end - panels.begin : kFinePanels;
  for (args.panel_begin = panels.begin; args.panel_begin < panels.end; args.panel_begin += step) {
    args.panel_end = std::min(args.panel_begin + step, panels.end);
    args.x = x.rows(w.type);
    args.bias = part.bias;
    args.residual = part.residual;
    matmul(args);
    if (remainders == nullptr) continue;
    args.x = remainders;
    args.bias = nullptr;
    args.residual = args.y;
    matmul(args);
  }
}

std::int64_t panels_of(std::span<const LinearPart> parts) {
  std::int64_t total = 0;
  for (const LinearPart& part : parts) total += panel_count(*part.w);
  return total;
}

// Panels of a portion at least: for one row what hides a stream's start, for more what the kernels
// work on at once.
std::int64_t portion_panels(const model::Matrix& w, std::int64_t m) {
  constexpr std::int64_t kStreamBytes = 128 << 10;
  constexpr std::int64_t kTogether = 8;
  return m > 1 ? kTogether
               : std::max<std::int64_t>(1, kStreamBytes / kernels::panel_bytes(w.type, w.k));
}

}  // namespace

void linear(const kernels::KernelTable& table, const base::Worker& worker, base::SharedRange& work,
            const EncodedRows& x, std::int64_t m, std::span<const LinearPart> parts,
            bool fine) noexcept {
  const std::int64_t total = panels_of(parts);
  const std::int64_t grain = portion_panels(*parts.front().w, m);
  for (base::Range mine; mine = work.take(worker, total, grain), mine.begin < mine.end;) {
    std::int64_t first = 0;
    for (const LinearPart& part : parts) {
      const std::int64_t count = panel_count(*part.w);
      const base::Range panels{std::clamp(mine.begin - first, std::int64_t{0}, count),
                               std::clamp(mine.end - first, std::int64_t{0}, count)};
      if (panels.begin < panels.end) multiply(table, part, panels, x, m, fine);
      first += count;
    }
  }
}

std::int64_t gated_scratch(std::int64_t rows_max, std::int64_t n) {
  return std::max(rows_max * kGatedPanels * kernels::kPanelRows,
                  (n + kernels::kPanelRows - 1) / kernels::kPanelRows * kernels::kPanelRows);
}

void gated_linear(const kernels::KernelTable& table, const base::Worker& worker,
                  base::SharedRange& work, const EncodedRows& x, std::int64_t m,
                  const LinearPart& gate, const model::Matrix& up, float* scratch,
                  bool fine) noexcept {
  const std::int64_t total = panel_count(*gate.w);
  const std::int64_t grain = portion_panels(*gate.w, m);
  const std::int64_t up_bytes = kernels::panel_bytes(up.type, up.k);
  for (base::Range mine; mine = work.take(worker, total, grain), mine.begin < mine.end;) {
    // For one row a portion's results are few, and long streams of weights are read best.
    const std::int64_t step = m == 1 ? mine.end - mine.begin : kGatedPanels;
    for (std::int64_t begin = mine.begin; begin < mine.end; begin += step) {
      const base::Range panels{begin, std::min(begin + step, mine.end)};
      const std::int64_t column = panels.begin * kernels::kPanelRows;
      const std::int64_t columns = std::min(panels.end * kernels::kPanelRows, up.n) - column;
      const model::Matrix piece{up.type, columns, up.k, up.panels + panels.begin * up_bytes};
      multiply(table, gate, panels, x, m, fine);
      multiply(table, {&piece, scratch, columns}, {0, panels.end - panels.begin}, x, m, fine);
      for (std::int64_t row = 0; row < m; ++row) {
        float* out = gate.y + row * gate.y_stride + column;
        table.floats->silu_mul(out, scratch + row * columns, columns, out);
      }
    }
  }
}

}  // namespace r1::runtime
