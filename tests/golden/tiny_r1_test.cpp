// The engine on tiny-r1's float files against an independent float32 forward pass (reference.json).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "r1/engine.hpp"
#include "tests/support/forward_logits.hpp"
#include "tests/support/reference_model.hpp"
#include "tests/support/tiny_r1.hpp"

namespace {

using namespace r1;

// The float files at hand: always the BF16 weights of the Hugging Face folder, and those of other
// writers.
std::vector<std::pair<std::string, Model>> float_models() {
  std::vector<std::pair<std::string, Model>> models;
  models.emplace_back("hf BF16", Model::load(support::bf16_image()));
  for (const char* type : {"F32", "F16", "BF16"}) {
    const std::string path = support::shared_path(type);
    if (!path.empty()) models.emplace_back(type, Model::load(path));
  }
  return models;
}

double log_probability(const std::vector<float>& logits, TokenId token) {
  const std::vector<double> wide(logits.begin(), logits.end());
  return wide[static_cast<std::size_t>(token)] - support::log_sum_exp(wide);
}

void check_prompt_logits(const Model& model, const support::ReferenceCase& one,
                         kernels::IsaTier isa) {
  INFO(kernels::isa_name(isa) << ", case " << one.id);
  const auto logits = support::forward_logits(model, one.tokens, {.isa = isa, .threads = 2});
  double sum = 0;
  for (std::size_t i = 1; i < one.tokens.size(); ++i) {
    sum += log_probability(logits[i - 1], one.tokens[i]);
  }
  CHECK(std::abs(sum - one.prompt_logprob) <= 1e-3 * std::abs(one.prompt_logprob));
  double worst = 0;
  for (std::size_t i = 0; i < one.top_ids.size(); ++i) {
    const float ours = logits.back()[static_cast<std::size_t>(one.top_ids[i])];
    worst = std::max(worst, std::abs(static_cast<double>(ours) - one.top_logits[i]));
  }
  CHECK(worst <= 0.03);
}

}  // namespace

// The tag arm marks what an emulated CPU can do in a minute.

TEST_CASE("one prompt's logits agree with the reference on every tier", "[arm]") {
  const Model model = Model::load(support::bf16_image());
  for (const auto isa : support::available_tiers()) {
    check_prompt_logits(model, support::reference_cases()[1], isa);
  }
}

TEST_CASE("prompt logits agree with the reference on every tier") {
  for (const auto& [name, model] : float_models()) {
    for (const auto isa : support::available_tiers()) {
      for (const auto& one : support::reference_cases()) {
        INFO(name);
        check_prompt_logits(model, one, isa);
      }
    }
  }
}

TEST_CASE("greedy continuations are the reference's") {
  for (const auto& [name, model] : float_models()) {
    Engine engine(model);
    GenerationOptions options;
    options.sampling.temperature = 0.0F;
    options.sampling.repeat_penalty = 1.0F;
    options.max_tokens = 64;
    for (const auto& one : support::reference_cases()) {
      INFO(name << ", case " << one.id);
      Session session = engine.open_session(options);
      session.complete(one.tokens);
      while (session.next()) {
      }
      // Near ties may go either way: compare up to the first one.
      std::size_t count = one.greedy.size();
      for (std::size_t i = 0; i < count; ++i) {
        if (one.greedy_lead[i] <= 0.05) count = i;
      }
      std::vector<TokenId> ours = session.result().token_ids;
      REQUIRE(ours.size() >= count);
      if (count == one.greedy.size() && one.greedy_ends) {
        CHECK(ours.size() == count);
        CHECK(session.result().finish_reason == FinishReason::stop);
      }
      ours.resize(count);
      CHECK(ours == std::vector<TokenId>(one.greedy.begin(),
                                         one.greedy.begin() + static_cast<std::ptrdiff_t>(count)));
    }
  }
}

TEST_CASE("every stage of every layer agrees with the oracle on the engine's own inputs", "[arm]") {
  const auto image = support::bf16_image();
  const Model model = Model::load(image);
  const support::ReferenceModel oracle(gguf::Reader::from_memory(image, "tiny-r1"));
  const auto tokens = support::reference_cases()[1].tokens;
  for (const auto isa : support::available_tiers()) {
    INFO(kernels::isa_name(isa));
    const auto trace =
        support::forward_trace(model, tokens, {.isa = isa, .kv_type = kernels::KvType::f32});
    CHECK(support::worst_stage_error(oracle, trace) <= 2e-6);
  }
}

TEST_CASE(
    "every stage of the embedded quantized model agrees with the oracle on the engine's own "
    "inputs",
    "[arm]") {
  const Model model = Model::load(support::embedded_path());
  const support::ReferenceModel oracle(gguf::Reader::open(support::embedded_path()), true);
  const auto tokens = support::reference_cases()[1].tokens;
  for (const auto isa : support::available_tiers()) {
    INFO(kernels::isa_name(isa));
    const auto trace =
        support::forward_trace(model, tokens, {.isa = isa, .kv_type = kernels::KvType::f32});
    CHECK(support::worst_stage_error(oracle, trace) <= 1e-5);
  }
}
