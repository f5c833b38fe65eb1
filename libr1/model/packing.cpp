// Tasks of a few MB from one cursor: threads that start late (the first has the tokenizer to build)
// or run slowly take fewer. A task is larger than a huge page, because two threads that touch one
// for the first time at once both clear it; it is read in pieces that stay in the L2 cache until
// they are packed (docs/decisions/packing.md has the figures).
#include "libr1/model/packing.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/api/args.hpp"
#include "kernels/api/pack.hpp"

namespace r1::model {
namespace {

constexpr std::int64_t kTaskBytes = 4 << 20;
constexpr std::int64_t kReadBytes = 256 << 10;

/// A range of a matrix's panels.
struct Task {
  const PackJob* job;
  base::Range panels;
};

std::int64_t panel_count(const PackJob& job) {
  return (job.n + kernels::kPanelRows - 1) / kernels::kPanelRows;
}

/// Bytes in the file of a panel's rows.
std::int64_t source_bytes(const PackJob& job) {
  return kernels::gguf_row_bytes(job.tensor->type, job.k) * kernels::kPanelRows;
}

/// Panels that hold about `bytes` in the file, at least one.
std::int64_t panels_of(const PackJob& job, std::int64_t bytes) {
  return std::max<std::int64_t>(1, bytes / source_bytes(job));
}

std::vector<Task> cut(std::span<const PackJob> jobs) {
  std::vector<Task> tasks;
  for (const PackJob& job : jobs) {
    const std::int64_t step = panels_of(job, kTaskBytes);
    for (std::int64_t begin = 0; begin < panel_count(job); begin += step) {
      tasks.push_back({&job, {begin, std::min(begin + step, panel_count(job))}});
    }
  }
  return tasks;
}

/// Packs tasks, one after the other, through a buffer of its own.
class Packer {
 public:
  Packer(const gguf::Reader& file, std::byte* packed) : file_(file), packed_(packed) {}

  void pack(const Task& task) {
    const PackJob& job = *task.job;
    const std::int64_t step = panels_of(job, kReadBytes);
    for (std::int64_t begin = task.panels.begin; begin < task.panels.end; begin += step) {
      pack_piece(job, {begin, std::min(begin + step, task.panels.end)});
    }
    const base::Range rows = rows_of(job, task.panels);
    const std::int64_t row_bytes = kernels::gguf_row_bytes(job.tensor->type, job.k);
    file_.release(*job.tensor, rows.begin * row_bytes, (rows.end - rows.begin) * row_bytes);
  }

 private:
  static base::Range rows_of(const PackJob& job, base::Range panels) {
    return {panels.begin * kernels::kPanelRows, std::min(panels.end * kernels::kPanelRows, job.n)};
  }

  void pack_piece(const PackJob& job, base::Range panels) {
    const kernels::WeightType type = job.tensor->type;
    const std::int64_t row_bytes = kernels::gguf_row_bytes(type, job.k);
    const base::Range rows = rows_of(job, panels);
    const auto bytes = static_cast<std::size_t>((rows.end - rows.begin) * row_bytes);
    if (raw_.size() < bytes) raw_.resize(bytes);
    file_.read(*job.tensor, rows.begin * row_bytes, std::span(raw_).first(bytes));
    std::byte* to = packed_ + job.offset + panels.begin * kernels::panel_bytes(type, job.k);
    for (std::int64_t row = rows.begin; row < rows.end; row += kernels::kPanelRows) {
      kernels::pack_panel(type, raw_.data() + (row - rows.begin) * row_bytes,
                          std::min(kernels::kPanelRows, rows.end - row), job.k, to);
      to += kernels::panel_bytes(type, job.k);
    }
  }

  const gguf::Reader& file_;
  std::byte* packed_;
  std::vector<std::byte> raw_;
};

}  // namespace

std::int64_t packed_bytes(const PackJob& job) {
  return panel_count(job) * kernels::panel_bytes(job.tensor->type, job.k);
}

void pack_matrices(const gguf::Reader& file, std::span<const PackJob> jobs, std::byte* packed,
                   base::ThreadTeam& team, const std::function<void()>& alongside,
                   const std::function<void(double)>& progress) {
  const std::vector<Task> tasks = cut(jobs);
  std::atomic<std::size_t> next{0};
  const auto work = [&](const base::Worker& worker) {
    const bool first = worker.index() == 0;
    if (first && alongside) alongside();
    Packer packer(file, packed);
    std::size_t told = 0;
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      packer.pack(tasks[i]);
      const std::size_t percent = (i + 1) * 100 / tasks.size();
      if (first && progress && percent > told && percent < 100) {
        progress(static_cast<double>(percent) / 100);
        told = percent;
      }
    }
  };
  if (progress) progress(0);
  team.run([&](base::Worker& worker) {
    try {
      work(worker);
    } catch (...) {
      next = tasks.size();  // the others need not go on
      throw;
    }
  });
  if (progress) progress(1);
}

}  // namespace r1::model
