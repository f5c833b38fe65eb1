// Numbers are written by fmt and nlohmann/json, which know no locale.
#include "tools/r1-generate/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "r1/system.hpp"
#include "tools/r1-generate/usage_error.hpp"

namespace r1_tools {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string joined_tiers(bool only_available) {
  std::string names;
  for (const r1::IsaSupport& tier : r1::isa_tiers()) {
    if (only_available && !tier.available) continue;
    names += (names.empty() ? "" : ", ") + tier.name;
  }
  return names;
}

std::string short_count(std::int64_t n) {
  const auto value = static_cast<double>(n);
  if (n >= 1'000'000'000) return fmt::format("{:.2f} billion", value / 1e9);
  return fmt::format("{:.1f} million", value / 1e6);
}

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

}  // namespace

std::string json_report(const r1::Generation& generation, const r1::Engine& engine) {
  nlohmann::ordered_json report;
  report["text"] = generation.text;
  report["reasoning"] = generation.reasoning;
  report["finish_reason"] = r1::to_string(generation.finish_reason);
  if (generation.finish_reason == r1::FinishReason::error) report["error"] = generation.error;
  report["prompt_tokens"] = generation.prompt_token_ids.size();
  report["completion_tokens"] = generation.token_ids.size();
  report["prompt_token_ids"] = generation.prompt_token_ids;
  report["token_ids"] = generation.token_ids;
  report["model"] = engine.model().info().name;
  report["isa"] = engine.info().isa;
  report["threads"] = engine.info().threads;
  report["seed"] = generation.seed;
  report["timings"] = {{"load_ms", engine.model().info().load_ms},
                       {"ttft_ms", generation.timings.ttft_ms},
                       {"prefill_tokens_per_s", generation.timings.prefill_tokens_per_s},
                       {"decode_tokens_per_s", generation.timings.decode_tokens_per_s},
                       {"total_ms", generation.timings.total_ms}};
  report["peak_memory_bytes"] = r1::peak_memory_bytes();
  return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string summary_line(const r1::Generation& generation, bool is_drawn) {
  // Fits 80 columns, all but the seed.
  const r1::Timings& timings = generation.timings;
  std::string line = fmt::format("[prompt {} tokens", generation.prompt_token_ids.size());
  if (generation.cached_tokens > 0) line += fmt::format(", {} cached", generation.cached_tokens);
  if (timings.prefill_tokens_per_s > 0)
    line += fmt::format(", {:.1f}/s", timings.prefill_tokens_per_s);
  line += fmt::format(" | generated {}", generation.token_ids.size());
  if (timings.decode_tokens_per_s > 0)
    line += fmt::format(", {:.1f}/s", timings.decode_tokens_per_s);
  line += fmt::format(" | first {:.2f} s, all {:.2f} s | {}", timings.ttft_ms / 1000,
                      timings.total_ms / 1000, r1::to_string(generation.finish_reason));
  if (is_drawn) line += fmt::format(" | seed {}", generation.seed);
  return line + "]";
}

std::string engine_description(const r1::Engine& engine) {
  const r1::ModelInfo& model = engine.model().info();
  const r1::EngineInfo& info = engine.info();
  std::string text;
  text += fmt::format("model: {}, {}, {} parameters, {} layers, hidden {}, heads {}/{}\n",
                      model.name, model.quantization, short_count(model.parameters), model.layers,
                      model.hidden, model.heads, model.kv_heads);
  text +=
      fmt::format("weights: {:.1f} MiB in the file, {:.1f} MiB in memory, loaded in {:.0f} ms\n",
                  mebibytes(model.tensor_bytes), mebibytes(model.packed_bytes), model.load_ms);
  text += fmt::format("running: {}, {} threads ({}), {} for the prompt\n", info.isa, info.threads,
                      info.threads_reason, info.threads_batch);
  text +=
      fmt::format("context: {} tokens, trained for {}\n", info.kv_tokens, model.trained_context);
  return text;
}

std::string banner(const r1::Engine& engine) {
  const r1::ModelInfo& model = engine.model().info();
  const r1::EngineInfo& info = engine.info();
  return fmt::format("{} ({}, {} parameters), {}, {} thread{}, context {} tokens", model.name,
                     model.quantization, short_count(model.parameters), info.isa, info.threads,
                     info.threads == 1 ? "" : "s", info.kv_tokens);
}

std::string version_text(const std::string& isa) {
  const std::vector<r1::IsaSupport> tiers = r1::isa_tiers();
  std::string in_use = isa;
  if (in_use.empty()) {
    for (const r1::IsaSupport& tier : tiers) {
      if (tier.available) in_use = tier.name;
    }
  }
  std::string text = fmt::format("r1-generate {}\n", r1::version());
  for (const r1::IsaSupport& tier : tiers) {
    text += fmt::format("isa {}: {}\n", tier.name,
                        tier.name == in_use ? "in use"
                        : tier.available    ? "available"
                                            : "not on this CPU");
  }
  return text + fmt::format("compiler: {}\n", compiler());
}

std::string advice_line(const r1::Model& model, const r1::SamplingOptions& sampling,
                        bool has_system) {
  if (!model.info().is_r1) return "";
  // DeepSeek-R1's README, "Usage Recommendations": temperature 0.5 to 0.7, no system prompt.
  constexpr float kTemperatureMin = 0.5F;
  constexpr float kTemperatureMax = 0.7F;
  const float own = model.resolve({}).temperature.value_or(0);
  const float asked = sampling.temperature.value_or(own);
  const bool is_odd = asked != own && (asked < kTemperatureMin || asked > kTemperatureMax);
  if (!is_odd && !has_system) return "";
  std::string line = "R1's authors advise ";
  if (is_odd) line += fmt::format("a temperature of 0.5 to 0.7 (got {})", asked);
  if (is_odd && has_system) line += " and ";
  if (has_system) line += "to put everything into the prompt instead of a system prompt";
  return line;
}

void check_isa(const std::string& isa) {
  if (isa.empty()) return;
  const std::vector<r1::IsaSupport> tiers = r1::isa_tiers();
  const auto tier = std::find_if(tiers.begin(), tiers.end(),
                                 [&](const r1::IsaSupport& entry) { return entry.name == isa; });
  if (tier == tiers.end()) {
    throw UsageError(fmt::format("--isa: expected one of {}, got '{}'", joined_tiers(false), isa));
  }
  if (!tier->available) {
    throw std::runtime_error(
        fmt::format("--isa: this CPU cannot run {}, only {}", isa, joined_tiers(true)));
  }
}

}  // namespace r1_tools
