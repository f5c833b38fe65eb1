// The public engine: settles options, then hands everything to the loop.
#include "r1/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/api/isa.hpp"
#include "kernels/api/table.hpp"
#include "libr1/base/cpu_budget.hpp"
#include "libr1/engine/session.hpp"
#include "r1/error.hpp"

namespace r1 {
namespace engine {
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

}  // namespace

/// The options an engine runs with, and the loop that runs them.
class EngineImpl {
 public:
  EngineImpl(const Model& model, const EngineOptions& options) {
    require("threads", options.threads, kThreadsMax);
    require("threads_batch", options.threads_batch, kThreadsMax);
    require("context", options.kv_tokens, kContextMax);
    require("batch_size", options.batch_size, kBatchMax);
    const base::CpuBudget budget = base::cpu_budget();
    LoopConfig config;
    config.table = choose_table(options.isa);
    config.threads = options.threads > 0 ? options.threads : budget.threads;
    config.threads_batch = options.threads_batch > 0 ? options.threads_batch : config.threads;
    const std::int64_t trained = model.info().trained_context;
    config.kv_tokens =
        options.kv_tokens > 0 ? options.kv_tokens : std::min(trained, kDefaultContext);
    config.batch_size = options.batch_size > 0 ? options.batch_size : kDefaultBatch;
    config.on_prefill = options.on_prefill;
    warn_about(options, budget, config, trained);
    info = {kernels::isa_name(config.table->tier), config.threads, config.threads_batch,
            options.threads > 0 ? "as asked" : budget.reason, config.kv_tokens};
    loop = std::make_shared<Loop>(model, config);
  }

  std::shared_ptr<Loop> loop;
  EngineInfo info;

 private:
  static void warn_about(const EngineOptions& options, const base::CpuBudget& budget,
                         const LoopConfig& config, std::int64_t trained) {
    if (!options.on_warning) return;
    const int most = std::max(config.threads, config.threads_batch);
    if (most > budget.threads) {
      options.on_warning(
          fmt::format("{} threads were asked for, but this process should run {} ({}); more "
                      "are usually slower",
                      most, budget.threads, budget.reason));
    }
    if (config.kv_tokens > trained) {
      options.on_warning(
          fmt::format("a context of {} is more than the {} positions the model was trained for",
                      config.kv_tokens, trained));
    }
  }
};

}  // namespace engine

Engine::Engine(Model model, EngineOptions options)
    : impl_(std::make_unique<engine::EngineImpl>(model, options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

Session Engine::open_session(GenerationOptions options) {
  return Session(std::make_unique<engine::SessionImpl>(impl_->loop, std::move(options)));
}
const Model& Engine::model() const { return impl_->loop->model(); }
const EngineInfo& Engine::info() const { return impl_->info; }

}  // namespace r1
