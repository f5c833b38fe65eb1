// Thinking control through the engine: budgets, loops, the caller's wish, and that an answer
// follows. The models' output is prescribed, so what comes is known (fixture F2).
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "r1/engine.hpp"
#include "tests/support/chain_model.hpp"

using namespace r1;

namespace {

constexpr const char* kTemplate =
    "{% for m in messages %}{{ m.content }}{% endfor %}<｜Assistant｜><think>\n";

/// A model that writes `script` for ever.
Model endless(std::vector<std::string> script) {
  return Model::load(support::chain_model(
      {.script = std::move(script), .endless = true, .chat_template = kTemplate}));
}

/// Letters without an end of a sentence, then one with it: 100 tokens.
std::vector<std::string> long_sentence() {
  std::vector<std::string> script;
  for (char c = 'a'; c <= 'z'; ++c) script.emplace_back(1, c);
  for (char c = 'A'; c <= 'Z'; ++c) script.emplace_back(1, c);
  script.emplace_back(".");
  return script;
}

Generation answer(Session& session) {
  session.user("hi");
  while (session.next()) {
  }
  return session.result();
}

GenerationOptions greedy(std::int64_t max_tokens) {
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.max_tokens = max_tokens;
  return options;
}

}  // namespace

TEST_CASE("a thought past its budget ends with its sentence, and the answer follows") {
  const Model model = endless(long_sentence());
  Engine engine(model, {.threads = 1});
  GenerationOptions options = greedy(200);
  options.think_budget_tokens = 40;
  Session session = engine.open_session(options);
  const Generation result = answer(session);
  CHECK(result.thought_end == ThoughtEnd::budget);
  CHECK_FALSE(result.reasoning.empty());
  CHECK(result.reasoning.back() == '.');
  CHECK(result.reasoning.size() == long_sentence().size());  // 53 tokens: within the grace of 32
  CHECK(result.finish_reason == FinishReason::length);
  CHECK(result.token_ids.size() == 200);
  CHECK_FALSE(result.text.empty());
}

TEST_CASE("a budget of 0 skips the thought") {
  const Model model = endless({"a", "b", "c"});
  Engine engine(model, {.threads = 1});
  for (const bool by_time : {false, true}) {
    GenerationOptions options = greedy(20);
    if (by_time) {
      options.think_budget_seconds = 0.0;
    } else {
      options.think_budget_tokens = 0;
    }
    Session session = engine.open_session(options);
    const Generation result = answer(session);
    CHECK(result.reasoning.empty());
    CHECK(result.thought_end == ThoughtEnd::budget);
    CHECK_FALSE(result.text.empty());
  }
}

TEST_CASE("a thought that goes round in a circle ends, an answer that does is cut") {
  const Model model = endless({"x", "y", "z", "\n"});
  Engine engine(model, {.threads = 1});
  Session session = engine.open_session(greedy(-1));
  const Generation result = answer(session);
  CHECK(result.thought_end == ThoughtEnd::loop);
  CHECK(result.loop);
  CHECK(result.finish_reason == FinishReason::length);
  CHECK(result.reasoning.size() >= 255);  // the newline at its end is trimmed
  CHECK(result.reasoning.size() < 400);
  CHECK(result.token_ids.size() < 1000);
}

TEST_CASE("the caller ends a thought") {
  const Model model = endless(long_sentence());
  Engine engine(model, {.threads = 1, .kv_tokens = 100000});
  GenerationOptions options = greedy(-1);  // seconds of thought, however slow the caller is
  options.ignore_eos = true;               // its loops are not looked for
  Session session = engine.open_session(options);
  session.user("hi");
  REQUIRE(session.next());
  session.end_thought();
  while (const auto piece = session.next()) {
    if (piece->kind == PieceKind::answer) session.stop();
  }
  CHECK(session.result().thought_end == ThoughtEnd::user);
  CHECK_FALSE(session.result().text.empty());
  // Outside a generation it does nothing.
  session.end_thought();
  session.options(greedy(20));
  CHECK(answer(session).thought_end == ThoughtEnd::none);
}

TEST_CASE("budgets leave room for the answer inside max_tokens") {
  const Model model = endless(long_sentence());
  Engine engine(model, {.threads = 1});
  GenerationOptions options = greedy(80);
  options.think_budget_tokens = 10000;
  Session session = engine.open_session(options);
  const Generation result = answer(session);
  CHECK(result.thought_end == ThoughtEnd::budget);
  CHECK(result.text.size() >= 15);  // a quarter of 80 tokens, less the closing
  options.think_budget_tokens = -1;
  CHECK_THROWS_WITH(session.options(options), Catch::Contains("think_budget_tokens"));
}
