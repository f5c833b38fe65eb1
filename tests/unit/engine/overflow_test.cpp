// Conversations that outgrow the context (case K5): refused, or whole turns left out and said so.
#include <catch2/catch.hpp>
#include <string>

#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/support/tiny_r1.hpp"

using namespace r1;

namespace {

constexpr std::int64_t kContext = 160;

GenerationOptions options_with(Overflow overflow) {
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.max_tokens = 30;
  options.overflow = overflow;
  return options;
}

Generation ask(Session& session, const std::string& text) {
  session.user(text);
  while (session.next()) {
  }
  return session.result();
}

}  // namespace

TEST_CASE("a conversation that no longer fits is refused and stays as it was (K5)") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 1, .kv_tokens = kContext});
  Session session = engine.open_session(options_with(Overflow::error));
  int turns = 0;
  try {
    for (; turns < 50; ++turns) ask(session, "12 + 30 = ?");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::context_length_exceeded);
    CHECK(session.history().size() == static_cast<std::size_t>(2 * turns));
  }
}

TEST_CASE("whole turns are left out on request, the system prompt and the question stay (K5)") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 1, .kv_tokens = kContext});
  Session session = engine.open_session(options_with(Overflow::drop_oldest_turns));
  session.system("You count.");
  std::int64_t dropped = 0;
  for (int turn = 0; turn < 30; ++turn) {
    const std::string question = std::to_string(turn) + " + 30 = ?";
    const Generation result = ask(session, question);
    REQUIRE(result.finish_reason != FinishReason::error);
    CHECK(result.dropped_messages >= dropped);
    CHECK(result.dropped_messages % 2 == 0);
    CHECK(static_cast<std::int64_t>(result.prompt_token_ids.size()) + 30 <= kContext);
    const std::string prompt = model.tokenizer().decode(result.prompt_token_ids);
    CHECK_THAT(prompt, Catch::Contains("You count.") && Catch::Contains(question));
    dropped = result.dropped_messages;
  }
  CHECK(dropped > 0);
  CHECK(session.history().size() == 61);
  const std::string prompt = model.tokenizer().decode(session.result().prompt_token_ids);
  CHECK_THAT(prompt, !Catch::Contains(">3 + 30"));  // an early question
  // Alone too long: nothing is left to leave out.
  std::string endless;
  for (int i = 0; i < 400; ++i) endless += "1 + ";
  CHECK_THROWS_AS(session.user(endless), Error);
  session.reset();
  CHECK(ask(session, "1 + 1 = ?").dropped_messages == 0);
}
