// The order of a model's run: limits, load, prefill, decode, limits again. Shares come last, when
// the higher of both limits is known.
#include "tools/r1-bench/model_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "r1/engine.hpp"
#include "r1/system.hpp"
#include "tools/command_line/console.hpp"
#include "tools/r1-bench/machine.hpp"

namespace r1_tools {
namespace {

using Clock = std::chrono::steady_clock;

// The prompt of the load test, and the context that its peak memory is stated for.
constexpr std::int64_t kFirstPrompt = 16;
constexpr std::int64_t kFirstContext = 2048;

// The engine's default chunk, which is what a step of a long prompt computes.
constexpr std::int64_t kStageTokensMax = 512;

/// A run over one model.
class ModelRun {
 public:
  ModelRun(const Options& options, StatusLine& status) : options_(options), status_(status) {}

  std::vector<Row> run() {
    if (options_.measure_limits)
      limits_ = measure_machine(options_.limits, "limits before the run", status_);
    // What measuring took is not the model's.
    r1::reset_peak_memory();
    run_tests();
    if (options_.measure_limits) {
      limits_.merge(measure_machine(options_.limits, "limits after the run", status_));
      add_shares();
      const std::vector<Row> limits = limit_rows(limits_);
      rows_.insert(rows_.begin(), limits.begin(), limits.end());
    }
    return std::move(rows_);
  }

 private:
  void run_tests() {
    const r1::Model model = load();
    name_ = options_.synthetic ? options_.synthetic->shape : model.info().name;
    type_ = options_.synthetic ? options_.synthetic->type : model.info().quantization;
    cost_ = r1::step_cost(model);
    first_token(model);
    const std::int64_t longest = std::max(
        *std::max_element(options_.prompts.begin(), options_.prompts.end()), options_.generate);
    if (longest > 0) {
      r1::EngineOptions engine = options_.engine;
      engine.kv_tokens =
          longest + *std::max_element(options_.depths.begin(), options_.depths.end());
      engine.on_warning = [this](std::string_view line) { warn(line); };
      r1::StepTimer timer(model, engine);
      for (const std::int64_t depth : options_.depths) {
        for (const std::int64_t tokens : options_.prompts) {
          if (tokens > 0) prefill(timer, tokens, depth);
        }
      }
      for (const std::int64_t depth : options_.depths) {
        for (const std::int64_t batch : options_.batches) {
          if (options_.generate > 0) decode(timer, depth, batch);
        }
      }
    }
    add_memory("memory");
  }

  r1::Model load() {
    r1::LoadOptions load = options_.load;
    load.on_progress = [this](double fraction) { status_.progress(fraction); };
    load.on_warning = [this](std::string_view line) { warn(line); };
    status_.begin("loading the model");
    r1::Model model = options_.synthetic ? r1::Model::synthetic(*options_.synthetic, load)
                                         : r1::Model::load(options_.model_path, load);
    status_.clear();
    return model;
  }

  /// From opening the file to the first token of a short prompt, with all that an engine does.
  void first_token(const r1::Model& model) {
    const auto ready = Clock::now();
    r1::EngineOptions options = options_.engine;
    options.kv_tokens = kFirstContext;
    r1::Engine engine(model, options);
    isa_ = engine.info().isa;
    r1::Session session = engine.open_session({.max_tokens = 1, .ignore_eos = true});
    std::vector<r1::TokenId> prompt;
    for (std::int64_t i = 0; i < kFirstPrompt; ++i) {
      constexpr std::int64_t kStride = 7919;  // a prime: ids from all over the vocabulary
      prompt.push_back(static_cast<r1::TokenId>((i + 1) * kStride % model.info().vocab));
    }
    session.complete(std::move(prompt));
    while (session.next()) {
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - ready).count();
    if (session.result().finish_reason == r1::FinishReason::error) {
      throw std::runtime_error(session.result().error);
    }
    Row pack = row("pack", engine.info().threads);
    pack.value = model.info().load_ms / 1000;
    pack.unit = "s";
    rows_.push_back(pack);
    Row load = row("load", engine.info().threads_batch);
    load.n_prompt = kFirstPrompt;
    load.batch = 1;
    load.value = pack.value + seconds;
    load.unit = "s";
    rows_.push_back(load);
    add_memory("load_memory");
  }

  void prefill(r1::StepTimer& timer, std::int64_t tokens, std::int64_t depth) {
    Row result = row("prefill", timer.info().threads_batch);
    result.n_prompt = tokens;
    result.depth = depth;
    result.batch = 1;
    std::vector<double> samples;
    for (int i = -1; i < options_.repetitions; ++i) {
      show(fmt::format("prefill {} at depth {}", tokens, depth), i);
      const double seconds = timer.prefill(tokens, depth);
      // The first run touches memory for the first time.
      if (i >= 0) samples.push_back(static_cast<double>(tokens) / seconds);
    }
    status_.clear();
    set_speed(result, std::move(samples));
    rows_.push_back(result);
    add_attention(result);
    // One step's worth of it: longer prompts are computed in chunks.
    if (options_.stages) {
      add_stages(result,
                 timer.stages(std::min(tokens, kStageTokensMax), depth, 1, options_.repetitions));
    }
  }

  /// What a deep prompt takes longer than one without anything before it is attention alone.
  void add_attention(const Row& deep) {
    const auto flat = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) {
      return r.test == "prefill" && r.depth == 0 && r.n_prompt == deep.n_prompt;
    });
    if (deep.depth == 0 || flat == rows_.end()) return;
    const auto tokens = static_cast<double>(deep.n_prompt);
    const double seconds = tokens / deep.tokens_per_s_median - tokens / flat->tokens_per_s_median;
    if (seconds <= 0) return;
    Row result = row("attention", deep.threads);
    result.n_prompt = deep.n_prompt;
    result.depth = deep.depth;
    result.batch = 1;
    result.value =
        (cost_.attention_macs(deep.n_prompt, deep.depth) - cost_.attention_macs(deep.n_prompt, 0)) /
        seconds;
    result.unit = "MAC/s";
    rows_.push_back(result);
  }

  void decode(r1::StepTimer& timer, std::int64_t depth, std::int64_t batch) {
    Row result = row("decode", timer.info().threads);
    result.n_gen = options_.generate;
    result.depth = depth;
    result.batch = batch;
    std::vector<double> samples;
    for (int i = 0; i < options_.repetitions; ++i) {
      show(fmt::format("decode {} at depth {}, {} at once", options_.generate, depth, batch), i);
      for (const double seconds : timer.decode(options_.generate, depth, batch)) {
        samples.push_back(static_cast<double>(batch) / seconds);
      }
    }
    status_.clear();
    set_speed(result, std::move(samples));
    rows_.push_back(result);
    if (options_.stages) {
      add_stages(result, timer.stages(1, depth, batch,
                                      static_cast<int>(options_.generate) * options_.repetitions));
    }
  }

  /// Seconds of the parts of one step of the test that `of` reports.
  void add_stages(const Row& of, const r1::StageSeconds& stages) {
    const auto add = [&](const char* name, double seconds) {
      Row result = of;
      result.test = of.test + "_" + name;
      result.tokens_per_s_median = result.tokens_per_s_p5 = result.tokens_per_s_p95 = 0;
      result.value = seconds;
      result.unit = "s";
      rows_.push_back(result);
    };
    add("embedding", stages.embedding);
    add("attention", stages.attention);
    add("o", stages.attention_output);
    add("gate_up", stages.gate_up);
    add("down", stages.down);
    add("output", stages.output);
  }

  void add_memory(const char* test) {
    Row result = row(test, 0);
    result.value = static_cast<double>(r1::peak_memory_bytes());
    result.unit = "B";
    rows_.push_back(result);
  }

  void add_shares() {
    for (Row& row : rows_) {
      if (row.test == "decode") {
        // Steps go from `depth` on; the middle one stands for all.
        const double depth =
            static_cast<double>(row.depth) + static_cast<double>(row.n_gen - 1) / 2;
        const double steps_per_s = row.tokens_per_s_median / static_cast<double>(row.batch);
        row.limit_share = cost_.decode_bytes(row.batch, depth) * steps_per_s / limits_.best_read();
      } else if (row.test == "prefill") {
        row.limit_share = row.tokens_per_s_median *
                          (static_cast<double>(cost_.quantized_macs) / limits_.byte_macs_per_s +
                           static_cast<double>(cost_.float_macs) / limits_.float_macs_per_s);
      } else if (row.test == "attention") {
        row.limit_share = row.value / limits_.float_macs_per_s;
      }
    }
  }

  Row row(const char* test, int threads) const {
    Row result;
    result.test = test;
    result.model = name_;
    result.type = type_;
    result.isa = isa_;
    result.threads = threads;
    return result;
  }

  void show(const std::string& what, int repetition) {
    if (repetition <= 0) status_.begin(what);
    status_.progress(static_cast<double>(std::max(repetition, 0)) / options_.repetitions);
  }

  void warn(std::string_view line) {
    status_.hide();
    write_message("warning", line);
  }

  const Options& options_;
  StatusLine& status_;
  std::string name_, type_, isa_;
  r1::StepCost cost_;
  r1::Limits limits_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> run_model(const Options& options, StatusLine& status) {
  return ModelRun(options, status).run();
}

}  // namespace r1_tools
