// What is computed ahead in idle time: the history without the old thought, for nobody but the next
// turn.
#include <catch2/catch.hpp>
#include <thread>

#include "r1/engine.hpp"
#include "tests/support/tiny_r1.hpp"

using namespace r1;

namespace {

GenerationOptions greedy() {
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.max_tokens = 400;
  return options;
}

Generation ask(Session& session, const char* text) {
  session.user(text);
  while (session.next()) {
  }
  return session.result();
}

/// Waits until something started from pages that were there and is over; false after ten seconds.
bool wait_for_reuse(const Engine& engine) {
  for (int i = 0; i < 1000; ++i) {
    const KvUsage usage = engine.kv_usage();
    if (usage.tokens_reused > 0 && usage.used == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("after a pause the next turn computes its own words only") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 1});
  Session session = engine.open_session(greedy());
  const Generation first = ask(session, "12 + 30 = ?");
  REQUIRE_FALSE(first.reasoning.empty());
  REQUIRE(first.cached_tokens == 0);
  REQUIRE(wait_for_reuse(engine));
  const Generation second = ask(session, "7 + 8 = ?");
  const auto words = model.tokenizer().encode("7 + 8 = ?").size();
  const auto computed =
      static_cast<std::int64_t>(second.prompt_token_ids.size()) - second.cached_tokens;
  // The question, the marks around it and the opened thought.
  CHECK(computed <= static_cast<std::int64_t>(words) + 6);

  Engine cold(model, {.threads = 1});
  Session alone = cold.open_session(greedy());
  ask(alone, "12 + 30 = ?");
  CHECK(ask(alone, "7 + 8 = ?").token_ids == second.token_ids);
}
