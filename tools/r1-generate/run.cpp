// Loading with a progress bar, the loop over pieces, and the report after one prompt.
#include "tools/r1-generate/run.hpp"

#include <fmt/format.h>

#include <utility>

#include "tools/command_line/usage_error.hpp"
#include "tools/embedded/embedded_model.hpp"
#include "tools/r1-generate/report.hpp"

namespace r1_tools {
namespace {

r1::Model load_model(const Run& run) {
  r1::LoadOptions load = run.options.load;
  const bool quiet = run.options.quiet;
  StatusLine& status = run.status;
  load.on_progress = [&status](double fraction) { status.progress(fraction); };
  load.on_warning = [&status, quiet](std::string_view line) {
    status.hide();
    if (!quiet) write_message("warning", line);
  };
  status.begin("loading the model");
  r1::Model model = run.options.model_path.empty() ? r1::Model::load(embedded_model(), load)
                                                   : r1::Model::load(run.options.model_path, load);
  status.clear();
  return model;
}

/// Reports the prompt's progress.
void report_prefill(r1::EngineOptions& options, StatusLine& status) {
  options.on_prefill = [&status](std::int64_t done, std::int64_t total) {
    if (total > 0) status.progress(static_cast<double>(done) / static_cast<double>(total));
  };
}

void check_logit_bias(const r1::Model& model, const Options& options) {
  const std::int64_t vocab = model.tokenizer().vocab_size();
  for (const auto& [id, bias] : options.generation.sampling.logit_bias) {
    if (id >= vocab) {
      throw UsageError(
          fmt::format("--logit-bias: expected a token id below {}, got {}", vocab, id));
    }
  }
}

}  // namespace

r1::Engine start_engine(const Run& run) {
  const r1::Model model = load_model(run);
  check_logit_bias(model, run.options);
  r1::EngineOptions options = run.options.engine;
  const bool quiet = run.options.quiet;
  StatusLine& status = run.status;
  options.on_warning = [&status, quiet](std::string_view line) {
    status.hide();
    if (!quiet) write_message("warning", line);
  };
  report_prefill(options, status);
  r1::Engine engine(model, std::move(options));
  if (run.options.verbose) write_err(engine_description(engine));
  const std::string advice =
      advice_line(model, run.options.generation.sampling, run.options.system.has_value());
  if (!advice.empty() && !quiet) write_message("note", advice);
  return engine;
}

const r1::Generation& answer(r1::Session& session, const Run& run) {
  AnswerWriter writer(run.options.think, run.out);
  run.interrupt.begin_answer(session);
  run.status.begin("reading the prompt");
  bool is_first = true;
  while (const auto piece = session.next()) {
    const bool shown = !run.options.json && writer.shows(*piece);
    if (shown || is_first) run.status.clear();
    if (is_first && !shown) run.status.begin("thinking");
    is_first = false;
    if (shown) {
      writer.write(*piece);
    } else {
      run.status.tick();
    }
  }
  run.status.clear();
  run.interrupt.end_answer();
  if (!run.options.json) writer.finish();
  return session.result();
}

bool is_drawn(const r1::Engine& engine, const Options& options) {
  constexpr float kGreedyBelow = 1e-5F;  // SamplingOptions::temperature
  return engine.model().resolve(options.generation.sampling).temperature.value_or(0) >=
         kGreedyBelow;
}

int run_once(const std::string& prompt, r1::Engine& engine, const Run& run) {
  const Options& options = run.options;
  r1::Session session = engine.open_session(options.generation);
  if (options.system) session.system(*options.system);
  if (options.raw) {
    session.complete(prompt, options.special);
  } else {
    session.user(prompt);
  }
  const r1::Generation& result = answer(session, run);
  if (options.json) {
    write_out(json_report(result, engine) + "\n");
  } else if (!options.quiet && result.finish_reason != r1::FinishReason::error) {
    if (result.finish_reason == r1::FinishReason::length && result.text.empty() &&
        !result.reasoning.empty()) {
      write_message("note", "the limit came inside the thought, before any answer; see -n and -c");
    }
    write_err(summary_line(result, is_drawn(engine, options)) + "\n");
  }
  switch (result.finish_reason) {
    case r1::FinishReason::error:
      write_message("error", result.error);
      return kExitFailed;
    case r1::FinishReason::cancelled:
      return kExitInterrupted;
    default:
      return kExitOk;
  }
}

}  // namespace r1_tools
