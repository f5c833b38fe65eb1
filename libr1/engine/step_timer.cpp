// Steps of the forward pass by themselves, timed. The prompt before a test's tokens is made up:
// computing 8,192 positions takes tens of seconds, writing random ones a fraction of one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "libr1/base/thread_team.hpp"
#include "libr1/engine/settings.hpp"
#include "libr1/engine/stage_clock.hpp"
#include "libr1/model/loaded_model.hpp"
#include "libr1/runtime/forward.hpp"
#include "libr1/runtime/kv_sequence.hpp"
#include "r1/error.hpp"
#include "r1/measure.hpp"

namespace r1 {
namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kSeed = 1;

void require(const char* what, std::int64_t value, std::int64_t min, std::int64_t max) {
  if (value < min || value > max) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected {} to {}, got {}", what, min, max, value));
  }
}

/// Random keys and values in one pool of numbers; rows start anywhere in it, which is cheaper than
/// drawing each number and looks the same to attention.
class RandomRows {
 public:
  explicit RandomRows(std::int64_t width) : numbers_(static_cast<std::size_t>(width + kStarts)) {
    std::mt19937_64 random(kSeed);
    std::normal_distribution<float> normal(0, 1);
    for (float& number : numbers_) number = normal(random);
  }
  /// Row `index`: width numbers of a standard normal distribution.
  const float* row(std::int64_t index) const {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio: spreads indices
    return numbers_.data() + (static_cast<std::uint64_t>(index) * kMix >> 32) % kStarts;
  }

 private:
  static constexpr std::int64_t kStarts = 65536;
  std::vector<float> numbers_;
};

}  // namespace

/// The forward pass, its team and its KV pages.
class StepTimerImpl {
 public:
  StepTimerImpl(Model model, const EngineOptions& options)
      : model_(std::move(model)),
        settings_(settle(options, model_.info().trained_context)),
        info_(describe(settings_)),
        team_(std::max(settings_.threads, settings_.threads_batch)),
        pool_(runtime::KvLayout::make(config(), settings_.kv_type),
              std::numeric_limits<runtime::PageId>::max(),
              {.memory = model_.impl().weights.buffer.pages()}),
        forward_(model_.impl(), *settings_.table, team_, settings_.kv_type, settings_.batch_size,
                 settings_.kv_tokens),
        rows_(config().kv_heads * config().head_dim) {}

  const EngineInfo& info() const { return info_; }

  double prefill(std::int64_t tokens, std::int64_t depth) {
    require("prompt", tokens, 1, settings_.kv_tokens);
    require("depth", depth, 0, settings_.kv_tokens - tokens);
    begin(1, depth, tokens);
    const std::vector<TokenId> ids = random_tokens(tokens);
    double seconds = 0;
    for (std::int64_t done = 0; done < tokens;) {
      const std::int64_t count = std::min(settings_.batch_size, tokens - done);
      plan_.assign(
          1,
          {std::span(ids).subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(count)),
           depth + done, &sequences_.front(),
           done + count == tokens ? runtime::LogitRows::last : runtime::LogitRows::none});
      seconds += step(settings_.threads_batch);
      done += count;
    }
    return seconds;
  }

  std::vector<double> decode(std::int64_t steps, std::int64_t depth, std::int64_t batch) {
    require("steps", steps, 1, settings_.kv_tokens);
    require("depth", depth, 0, settings_.kv_tokens - steps);
    require("sequences", batch, 1, settings_.batch_size);
    begin(batch, depth, steps);
    const std::vector<TokenId> ids = random_tokens(steps * batch);
    std::vector<double> seconds;
    for (std::int64_t i = 0; i < steps; ++i) {
      plan_.clear();
      for (std::int64_t s = 0; s < batch; ++s) {
        plan_.push_back({std::span(ids).subspan(static_cast<std::size_t>(i * batch + s), 1),
                         depth + i, &sequences_[static_cast<std::size_t>(s)],
                         runtime::LogitRows::last});
      }
      seconds.push_back(step(settings_.threads));
    }
    return seconds;
  }

  StageSeconds stages(std::int64_t tokens, std::int64_t depth, std::int64_t batch,
                      int repetitions) {
    require("sequences", batch, 1, settings_.batch_size);
    require("tokens", tokens, 1, std::min(settings_.batch_size / batch, settings_.kv_tokens));
    require("depth", depth, 0, settings_.kv_tokens - tokens);
    require("repetitions", repetitions, 1, std::numeric_limits<int>::max());
    begin(batch, depth, tokens);
    const std::vector<TokenId> ids = random_tokens(tokens * batch);
    plan_.clear();
    for (std::int64_t s = 0; s < batch; ++s) {
      plan_.push_back({std::span(ids).subspan(static_cast<std::size_t>(s * tokens),
                                              static_cast<std::size_t>(tokens)),
                       depth, &sequences_[static_cast<std::size_t>(s)], runtime::LogitRows::last});
    }
    StageClock clock(config().layers);
    forward_.set_probe([&clock](runtime::Stage stage, std::int64_t layer, std::int64_t row,
                                std::span<const float>) { clock.see(stage, layer, row); });
    StageSeconds best;
    // The same step again: it writes the same keys and values to the same places.
    for (int i = 0; i < repetitions; ++i) {
      clock.begin(tokens - 1);
      forward_.step(plan_, tokens == 1 ? settings_.threads : settings_.threads_batch);
      const StageSeconds parts = clock.end();
      if (i == 0 || parts.total() < best.total()) best = parts;
    }
    forward_.set_probe({});
    return best;
  }

 private:
  const model::Config& config() const { return model_.impl().config; }

  /// Makes `batch` sequences with `depth` made-up positions each and room for `more`.
  void begin(std::int64_t batch, std::int64_t depth, std::int64_t more) {
    sequences_.clear();
    for (std::int64_t s = 0; s < batch; ++s) {
      runtime::KvSequence& sequence = sequences_.emplace_back(pool_);
      if (!sequence.reserve(depth + more)) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("KV cache: expected room for {} sequences of {} tokens, got it for "
                                "{}",
                                batch, depth + more, s));
      }
      fill(sequence, depth);
    }
  }

  void fill(runtime::KvSequence& sequence, std::int64_t depth) {
    const runtime::KvLayout& layout = pool_.layout();
    const kernels::KvWriteFn write =
        settings_.table->floats->kv_write[static_cast<int>(layout.type)];
    team_.run([&](base::Worker& worker) {
      const base::Range mine = worker.slice(depth, kernels::kPageTokens);
      for (std::int64_t position = mine.begin; position < mine.end; ++position) {
        for (std::int64_t layer = 0; layer < layout.layers; ++layer) {
          const std::int64_t row = 2 * (position * layout.layers + layer);
          write({rows_.row(row), rows_.row(row + 1), layout.kv_heads, layout.head_dim,
                 sequence.page_of(position) + layout.layer_offset(layer),
                 position % kernels::kPageTokens});
        }
      }
    });
  }

  std::vector<TokenId> random_tokens(std::int64_t count) const {
    std::mt19937_64 random(kSeed);
    std::uniform_int_distribution<TokenId> id(0, static_cast<TokenId>(config().vocab - 1));
    std::vector<TokenId> ids(static_cast<std::size_t>(count));
    for (TokenId& token : ids) token = id(random);
    return ids;
  }

  /// Computes plan_; its seconds.
  double step(int threads) {
    const auto start = Clock::now();
    const std::span<const float> logits = forward_.step(plan_, threads);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (!settings_.table->floats->all_finite(logits.data(),
                                             static_cast<std::int64_t>(logits.size()))) {
      throw Error(ErrorCode::non_finite,
                  fmt::format("logits at position {}: expected finite numbers, got NaN or infinity "
                              "(damaged weights?)",
                              plan_.front().first_position +
                                  static_cast<std::int64_t>(plan_.front().tokens.size()) - 1));
    }
    return seconds;
  }

  Model model_;
  Settings settings_;
  EngineInfo info_;
  base::ThreadTeam team_;
  runtime::KvPool pool_;
  runtime::Forward forward_;
  RandomRows rows_;
  std::deque<runtime::KvSequence> sequences_;
  std::vector<runtime::SequenceStep> plan_;
};

}  // namespace engine

double StageSeconds::total() const {
  return embedding + attention + attention_output + gate_up + down + output;
}

StepTimer::StepTimer(Model model, const EngineOptions& options)
    : impl_(std::make_unique<engine::StepTimerImpl>(std::move(model), options)) {}
StepTimer::~StepTimer() = default;
StepTimer::StepTimer(StepTimer&&) noexcept = default;
StepTimer& StepTimer::operator=(StepTimer&&) noexcept = default;

const EngineInfo& StepTimer::info() const { return impl_->info(); }
double StepTimer::prefill(std::int64_t tokens, std::int64_t depth) {
  return impl_->prefill(tokens, depth);
}
StageSeconds StepTimer::stages(std::int64_t tokens, std::int64_t depth, std::int64_t batch,
                               int repetitions) {
  return impl_->stages(tokens, depth, batch, repetitions);
}
std::vector<double> StepTimer::decode(std::int64_t steps, std::int64_t depth, std::int64_t batch) {
  return impl_->decode(steps, depth, batch);
}

}  // namespace r1
