// JSON answers and log-probabilities through the engine.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/support/tiny_r1.hpp"

using namespace r1;

namespace {

Generation ask(Engine& engine, const GenerationOptions& options) {
  Session session = engine.open_session(options);
  session.user("1 + 1 = ?");
  while (session.next()) {
  }
  return session.result();
}

GenerationOptions sampled(std::uint64_t seed) {
  GenerationOptions options;
  options.sampling.temperature = 1.0F;
  options.sampling.seed = seed;
  options.max_tokens = 300;
  return options;
}

}  // namespace

TEST_CASE("an answer in JSON satisfies its schema, the thought before it is free") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 1});
  for (const std::uint64_t seed : {1, 2, 3}) {
    GenerationOptions options = sampled(seed);
    options.think_budget_tokens = 40;
    options.json_schema =
        R"({"type":"object","properties":{"ok":{"type":"boolean"},)"
        R"("sign":{"enum":["plus","minus"]},"n":{"type":"integer"}},"required":["ok","sign","n"]})";
    const Generation result = ask(engine, options);
    INFO(result.text);
    REQUIRE(result.finish_reason == FinishReason::stop);
    const auto value = nlohmann::json::parse(result.text);
    CHECK(value.at("ok").is_boolean());
    CHECK(value.at("n").is_number_integer());
    CHECK((value.at("sign") == "plus" || value.at("sign") == "minus"));
    CHECK_FALSE(result.reasoning.empty());
  }
}

TEST_CASE("a schema that is not understood is refused where it is given") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 1});
  GenerationOptions options;
  options.json_schema = R"({"type":"string","pattern":"a*"})";
  CHECK_THROWS_WITH(engine.open_session(options), Catch::Contains("pattern"));
  options.json_schema = "{";
  CHECK_THROWS_AS(engine.open_session(options), Error);
  options = {};
  options.top_logprobs = 21;
  CHECK_THROWS_WITH(engine.open_session(options), Catch::Contains("logprobs"));
}

TEST_CASE("every generated token has its log-probability (G7)") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 1});
  GenerationOptions options = sampled(5);
  options.sampling.temperature = 0;
  options.max_tokens = 30;
  options.top_logprobs = 3;
  const Generation result = ask(engine, options);
  REQUIRE(result.logprobs.size() == result.token_ids.size());
  for (std::size_t i = 0; i < result.logprobs.size(); ++i) {
    const TokenLogprob& token = result.logprobs[i];
    CHECK(token.id == result.token_ids[i]);
    CHECK(token.logprob <= 0);
    REQUIRE(token.top.size() == 3);
    CHECK(token.top[0].second >= token.top[1].second);
    CHECK(token.top[1].second >= token.top[2].second);
    // Greedy, and nothing but the repeat penalty changes the order; the chosen one is known.
    CHECK(token.logprob <= token.top[0].second);
  }
}
