// Ranges of the options, and defaults that come from the machine and the model.
#include "libr1/engine/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/api/isa.hpp"
#include "libr1/base/cpu_budget.hpp"
#include "r1/error.hpp"

namespace r1 {

const char* to_string(KvType type) {
  switch (type) {
    case KvType::f32:
      return "f32";
    case KvType::f16:
      return "f16";
    case KvType::q8:
      return "q8";
  }
  return "";
}

}  // namespace r1

namespace r1::engine {
namespace {

constexpr std::int64_t kDefaultContext = 32768;
constexpr std::int64_t kDefaultBatch = 512;
constexpr std::int64_t kContextMax = std::int64_t{1} << 30;
constexpr std::int64_t kBatchMax = 16384;
constexpr int kThreadsMax = 1024;

void require(const char* what, std::int64_t value, std::int64_t max) {
  if (value < 0 || value > max) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected 0 (automatic) to {}, got {}", what, max, value));
  }
}

void warn_about(const EngineOptions& options, const base::CpuBudget& budget,
                const Settings& settings, std::int64_t trained) {
  if (!options.on_warning) return;
  const int most = std::max(settings.threads, settings.threads_batch);
  if (most > budget.threads) {
    options.on_warning(
        fmt::format("{} threads were asked for, but this process should run {} ({}); more "
                    "are usually slower",
                    most, budget.threads, budget.reason));
  }
  if (settings.kv_tokens > trained) {
    options.on_warning(
        fmt::format("a context of {} is more than the {} positions the model was trained for",
                    settings.kv_tokens, trained));
  }
}

}  // namespace

const kernels::KernelTable* choose_table(const std::string& name) {
  if (name.empty()) {
    if (const auto* table = kernels::kernel_table(kernels::best_isa())) return table;
    throw Error(ErrorCode::unsupported,
                "isa: expected a CPU with SSE4.2 or better, got one without");
  }
  std::string available;
  for (int i = 0; i < kernels::kIsaTierCount; ++i) {
    const auto tier = static_cast<kernels::IsaTier>(i);
    const kernels::KernelTable* table = kernels::kernel_table(tier);
    if (table == nullptr) continue;
    if (name == kernels::isa_name(tier)) return table;
    available += (available.empty() ? "" : ", ") + std::string(kernels::isa_name(tier));
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("isa: expected one that this CPU has ({}), got {}", available, name));
}

kernels::KvType kernel_type(KvType type) {
  switch (type) {
    case KvType::f32:
      return kernels::KvType::f32;
    case KvType::f16:
      return kernels::KvType::f16;
    case KvType::q8:
      return kernels::KvType::q8;
  }
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("kv_type: expected f32, f16 or q8, got number {}", static_cast<int>(type)));
}

Settings settle(const EngineOptions& options, std::int64_t trained_context) {
  require("threads", options.threads, kThreadsMax);
  require("threads_batch", options.threads_batch, kThreadsMax);
  require("context", options.kv_tokens, kContextMax);
  require("batch_size", options.batch_size, kBatchMax);
  require("kv_memory", options.kv_memory, std::numeric_limits<std::int64_t>::max());
  if (!(std::isfinite(options.max_stall_s) && options.max_stall_s > 0)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("max_stall_s: expected a finite number above 0, got {}", options.max_stall_s));
  }
  const base::CpuBudget budget = base::cpu_budget();
  Settings settings;
  settings.table = choose_table(options.isa);
  settings.threads = options.threads > 0 ? options.threads : budget.threads;
  settings.threads_batch = options.threads_batch > 0 ? options.threads_batch : settings.threads;
  settings.threads_reason = options.threads > 0 ? "as asked" : budget.reason;
  settings.kv_tokens =
      options.kv_tokens > 0 ? options.kv_tokens : std::min(trained_context, kDefaultContext);
  settings.batch_size = options.batch_size > 0 ? options.batch_size : kDefaultBatch;
  settings.kv_type = kernel_type(options.kv_type);
  settings.kv_memory = options.kv_memory;
  settings.max_stall_s = options.max_stall_s;
  warn_about(options, budget, settings, trained_context);
  return settings;
}

EngineInfo describe(const Settings& settings) {
  EngineInfo info;
  info.isa = kernels::isa_name(settings.table->tier);
  info.threads = settings.threads;
  info.threads_batch = settings.threads_batch;
  info.threads_reason = settings.threads_reason;
  info.kv_tokens = settings.kv_tokens;
  return info;
}

}  // namespace r1::engine
