// Numbers are written by fmt and nlohmann/json, which know no locale.
#include "tools/r1-generate/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "r1/system.hpp"

namespace r1_tools {
namespace {

std::string short_count(std::int64_t n) {
  const auto value = static_cast<double>(n);
  if (n >= 1'000'000'000) return fmt::format("{:.2f} billion", value / 1e9);
  return fmt::format("{:.1f} million", value / 1e6);
}

/// A time with a unit that suits it: "4 ms", "0.42 s", "84.6 s", "12 min 5 s".
std::string duration(double ms) {
  if (ms < 1) return "<1 ms";
  if (ms < 100) return fmt::format("{:.0f} ms", ms);
  if (ms < 9950) return fmt::format("{:.2f} s", ms / 1000);
  if (ms < 120'000) return fmt::format("{:.1f} s", ms / 1000);
  const auto seconds = static_cast<std::int64_t>(ms / 1000);
  return fmt::format("{} min {} s", seconds / 60, seconds % 60);
}

/// ", 428/s"; nothing when there is no rate. Digits that nobody reads are left out.
std::string rate(double per_second) {
  if (per_second <= 0) return "";
  return per_second < 100 ? fmt::format(", {:.1f}/s", per_second)
                          : fmt::format(", {:.0f}/s", per_second);
}

/// What a person has to know about the end of an answer; nothing when it is complete.
std::string_view ending(r1::FinishReason reason, bool loop) {
  switch (reason) {
    case r1::FinishReason::stop:
      return "";
    case r1::FinishReason::length:
      return loop ? " | went round in a circle" : " | token limit";
    case r1::FinishReason::cancelled:
      return " | stopped by Ctrl-C";
    case r1::FinishReason::error:
      return " | error";
  }
  return "";
}

std::string threads(std::int64_t n) { return fmt::format("{} thread{}", n, n == 1 ? "" : "s"); }

nlohmann::ordered_json timings(const r1::Timings& timings, double load_ms) {
  return {{"load_ms", load_ms},
          {"prompt_ms", timings.prompt_ms},
          {"queued_ms", timings.queued_ms},
          {"ttft_ms", timings.ttft_ms},
          {"prefill_ms", timings.prefill_ms},
          {"prefill_tokens", timings.prefill_tokens},
          {"prefill_tokens_per_s", timings.prefill_tokens_per_s},
          {"decode_ms", timings.decode_ms},
          {"decode_tokens_per_s", timings.decode_tokens_per_s},
          {"thought_tokens", timings.thought_tokens},
          {"answer_tokens", timings.answer_tokens},
          {"gap_p50_ms", timings.gap_p50_ms},
          {"gap_p95_ms", timings.gap_p95_ms},
          {"gap_p99_ms", timings.gap_p99_ms},
          {"gap_max_ms", timings.gap_max_ms},
          {"sampling_ms", timings.sampling_ms},
          {"kv_pages", timings.kv_pages},
          {"total_ms", timings.total_ms}};
}

nlohmann::ordered_json logprobs(const std::vector<r1::TokenLogprob>& tokens,
                                const r1::Engine& engine) {
  const auto entry = [&](r1::TokenId id, double logprob) {
    return nlohmann::ordered_json{
        {"id", id}, {"text", engine.model().tokenizer().token_text(id)}, {"logprob", logprob}};
  };
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const r1::TokenLogprob& token : tokens) {
    nlohmann::ordered_json one = entry(token.id, token.logprob);
    one["top"] = nlohmann::ordered_json::array();
    for (const auto& [id, logprob] : token.top) one["top"].push_back(entry(id, logprob));
    list.push_back(std::move(one));
  }
  return list;
}

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

}  // namespace

std::string json_report(const r1::Generation& generation, const r1::Engine& engine) {
  nlohmann::ordered_json report;
  report["text"] = generation.text;
  report["reasoning"] = generation.reasoning;
  report["finish_reason"] = r1::to_string(generation.finish_reason);
  if (generation.finish_reason == r1::FinishReason::error) report["error"] = generation.error;
  report["thought_end"] = r1::to_string(generation.thought_end);
  report["loop"] = generation.loop;
  report["prompt_tokens"] = generation.prompt_token_ids.size();
  report["completion_tokens"] = generation.token_ids.size();
  report["prompt_token_ids"] = generation.prompt_token_ids;
  report["token_ids"] = generation.token_ids;
  report["cached_tokens"] = generation.cached_tokens;
  if (!generation.logprobs.empty()) report["logprobs"] = logprobs(generation.logprobs, engine);
  report["model"] = engine.model().info().name;
  report["isa"] = engine.info().isa;
  report["threads"] = engine.info().threads;
  report["seed"] = generation.seed;
  report["kv_type"] = r1::to_string(engine.info().kv_type);
  report["timings"] = timings(generation.timings, engine.model().info().load_ms);
  report["peak_memory_bytes"] = r1::peak_memory_bytes();
  return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string summary_line(const r1::Generation& generation, bool is_drawn) {
  // Fits 80 columns for a first answer that is complete, all but the seed.
  const r1::Timings& timings = generation.timings;
  const std::size_t count = generation.token_ids.size();
  std::string line = fmt::format("[prompt {} tokens", generation.prompt_token_ids.size());
  if (generation.cached_tokens > 0) line += fmt::format(" ({} cached)", generation.cached_tokens);
  line += rate(timings.prefill_tokens_per_s);
  line += fmt::format(" | output {}{} | ", count, rate(timings.decode_tokens_per_s));
  if (count > 0) line += fmt::format("first token {}, ", duration(timings.ttft_ms));
  line += fmt::format("total {}{}", duration(timings.total_ms),
                      ending(generation.finish_reason, generation.loop));
  if (generation.thought_end != r1::ThoughtEnd::none &&
      generation.thought_end != r1::ThoughtEnd::model) {
    line += fmt::format(" | thought ended by {}", r1::to_string(generation.thought_end));
  }
  if (is_drawn) line += fmt::format(" | seed {}", generation.seed);
  return line + "]";
}

std::string engine_description(const r1::Engine& engine) {
  const r1::ModelInfo& model = engine.model().info();
  const r1::EngineInfo& info = engine.info();
  std::string text;
  text += fmt::format("model: {}, {}, {} parameters\n", model.name, model.quantization,
                      short_count(model.parameters));
  text += fmt::format("shape: {} layers, hidden size {}, {} heads, {} key/value heads\n",
                      model.layers, model.hidden, model.heads, model.kv_heads);
  text += fmt::format("weights: {:.1f} MiB in the file, {:.1f} MiB in memory, loaded in {}\n",
                      mebibytes(model.tensor_bytes), mebibytes(model.packed_bytes),
                      duration(model.load_ms));
  text += fmt::format("running: {}, {} ({})", info.isa, threads(info.threads), info.threads_reason);
  if (info.threads_batch != info.threads)
    text += fmt::format(", {} for the prompt", info.threads_batch);
  text +=
      fmt::format("\ncontext: {} tokens, trained for {}\n", info.kv_tokens, model.trained_context);
  text += fmt::format("keys and values: {}, {:.1f} KiB a token, {:.1f} MiB at most\n",
                      r1::to_string(info.kv_type), static_cast<double>(info.kv_token_bytes) / 1024,
                      mebibytes(info.kv_memory));
  return text;
}

std::string banner(const r1::Engine& engine) {
  const r1::ModelInfo& model = engine.model().info();
  const r1::EngineInfo& info = engine.info();
  return fmt::format("{}, {}, {} parameters\n{}, {}, context {} tokens\n", model.name,
                     model.quantization, short_count(model.parameters), info.isa,
                     threads(info.threads), info.kv_tokens);
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

}  // namespace r1_tools
