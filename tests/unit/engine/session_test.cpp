// Conversations with models whose output is prescribed (fixture F2): streaming, ends, limits,
// stops, thoughts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/support/chain_model.hpp"

using namespace r1;

namespace {

using support::ChainSpec;
using support::Family;

struct Answer {
  std::string streamed_thought, streamed_answer;
  Generation result;
};

Answer drain(Session& session) {
  Answer answer;
  while (const auto piece = session.next()) {
    CHECK_FALSE(piece->text.empty());
    (piece->kind == PieceKind::thought ? answer.streamed_thought : answer.streamed_answer) +=
        piece->text;
  }
  answer.result = session.result();
  CHECK(answer.streamed_answer == answer.result.text);
  CHECK(answer.streamed_thought == answer.result.reasoning);
  return answer;
}

Answer complete(const ChainSpec& spec, const GenerationOptions& options = {}) {
  Engine engine(Model::load(support::chain_model(spec)));
  Session session = engine.open_session(options);
  session.complete("?");
  return drain(session);
}

Answer chat(const ChainSpec& spec, const GenerationOptions& options = {}) {
  Engine engine(Model::load(support::chain_model(spec)));
  Session session = engine.open_session(options);
  session.user("?");
  return drain(session);
}

constexpr const char* kEnd = "<｜end▁of▁sentence｜>";
const std::string kPrefillTemplate =
    "{{ bos_token }}{% for m in messages %}<｜User｜>{{ m.content }}{% endfor "
    "%}<｜Assistant｜><think>\n";
const std::string kPlainTemplate =
    "{{ bos_token }}{% for m in messages %}<｜User｜>{{ m.content }}{% endfor %}<｜Assistant｜>";

}  // namespace

TEST_CASE("text streams, the end token ends it and is not shown (C2)") {
  const Answer answer = complete({.script = {"Hel", "lo", kEnd}});
  CHECK(answer.result.text == "Hello");
  CHECK(answer.result.finish_reason == FinishReason::stop);
  CHECK(answer.result.token_ids.size() == 2);
  CHECK(answer.result.timings.total_ms > 0);
}

TEST_CASE("ends are known by their text in the file's own vocabulary (C2)") {
  for (const char* end : {"<|endoftext|>", "<|im_end|>"}) {
    const Answer answer = complete({.family = Family::qwen, .script = {"a", "b", end}});
    CHECK(answer.result.text == "ab");
    CHECK(answer.result.token_ids.size() == 2);
    CHECK(answer.result.finish_reason == FinishReason::stop);
  }
  for (const char* end : {kEnd, "<|EOT|>"}) {
    const Answer answer = complete({.script = {"a", "b", end}});
    CHECK(answer.result.text == "ab");
    CHECK(answer.result.token_ids.size() == 2);
    CHECK(answer.result.finish_reason == FinishReason::stop);
  }
  // In an R1 vocabulary the Assistant marker has the number of Qwen's <|im_end|> and ends nothing.
  const Answer answer = complete({.script = {"a", "<｜Assistant｜>", "b", kEnd}});
  CHECK(answer.result.token_ids.size() == 3);
  CHECK(answer.result.finish_reason == FinishReason::stop);
}

TEST_CASE("the end is ignored when asked") {
  GenerationOptions options;
  options.ignore_eos = true;
  options.max_tokens = 4;
  const Answer answer = complete({.script = {"a", kEnd}, .endless = true}, options);
  CHECK(answer.result.text == "aa");
  CHECK(answer.result.token_ids.size() == 4);
  CHECK(answer.result.finish_reason == FinishReason::length);
}

TEST_CASE("characters split over tokens are never shown in halves (T6)") {
  const Answer whole = complete({.script = {" \xf0\x9f", "\xa6", "\x99", kEnd}});
  CHECK(whole.result.text == " \xf0\x9f\xa6\x99");
  CHECK(complete({.script = {" \xf0\x9f", "\xa6", kEnd}}).result.text == " \xef\xbf\xbd");
  CHECK(complete({.script = {"a", "\x99", kEnd}}).result.text == "a\xef\xbf\xbd");
  GenerationOptions one;
  one.max_tokens = 1;
  CHECK(complete({.script = {" \xf0\x9f", "\xa6", "\x99", kEnd}}, one).result.text ==
        " \xef\xbf\xbd");
}

TEST_CASE("a thought that the prompt opens is kept apart (C3)") {
  const Answer answer = chat({.script = {"let me", " see", "</think>", "\n\n", "42", kEnd},
                              .chat_template = kPrefillTemplate});
  CHECK(answer.result.reasoning == "let me see");
  CHECK(answer.result.text == "42");
}

TEST_CASE("a thought that the model opens is kept apart (C3)") {
  const Answer answer = chat({.script = {"<think>", "\n", "hm", "</think>", "\n\n", "42", kEnd},
                              .chat_template = kPlainTemplate});
  CHECK(answer.result.reasoning == "hm");
  CHECK(answer.result.text == "42");
}

TEST_CASE("no thought at all is an answer (C3)") {
  const Answer answer = chat({.script = {"4", "2", kEnd}, .chat_template = kPlainTemplate});
  CHECK(answer.result.reasoning.empty());
  CHECK(answer.result.text == "42");
}

TEST_CASE("limits are exact (G2)") {
  const ChainSpec spec{.script = {"a", "b", "c", "d", kEnd}};
  for (const std::int64_t limit : {0, 1, 3, 4}) {
    GenerationOptions options;
    options.max_tokens = limit;
    const Answer answer = complete(spec, options);
    CHECK(answer.result.token_ids.size() == static_cast<std::size_t>(limit));
    CHECK(answer.result.finish_reason == FinishReason::length);
  }
  GenerationOptions options;
  options.max_tokens = 5;
  CHECK(complete(spec, options).result.finish_reason == FinishReason::stop);
  options.max_tokens = -2;
  CHECK_THROWS_WITH(complete(spec, options), Catch::Contains("max_tokens"));
}

TEST_CASE("stop strings over token borders (G6)") {
  const ChainSpec spec{.script = {"foo", " END", "_OF", "_ANS", "WER", " bar", kEnd}};
  const auto with_stops = [&](std::vector<std::string> stops) {
    GenerationOptions options;
    options.stop = std::move(stops);
    return complete(spec, options).result;
  };
  CHECK(with_stops({"D_OF"}).text == "foo EN");
  CHECK(with_stops({"D_OF"}).finish_reason == FinishReason::stop);
  CHECK(with_stops({"END_OF_ANSWER!"}).text == "foo END_OF_ANSWER bar");
  CHECK(with_stops({"bar", "foo END"}).text.empty());
  CHECK(with_stops({"x1", "x2", "x3", "x4", "bar"}).text == "foo END_OF_ANSWER ");
  CHECK_THROWS_AS(with_stops({""}), Error);
}

TEST_CASE("a stop string inside the bytes of a character cuts before the character (G6)") {
  const ChainSpec spec{.script = {"a", " \xf0\x9f", "\xa6", "\x99", "b", kEnd}};
  for (const char* stop : {"\xf0\x9f", "\x9f\xa6", "\xa6", "\x99",
                           "\x99"
                           "b"}) {
    GenerationOptions options;
    options.stop = {stop};
    const Answer answer = complete(spec, options);
    CHECK(answer.result.text == "a ");
    CHECK(answer.result.finish_reason == FinishReason::stop);
  }
}

TEST_CASE("a stop string in the thought does not end it (G6)") {
  GenerationOptions options;
  options.stop = {"END"};
  const Answer answer =
      chat({.script = {"an EN", "D in it", "</think>", "\n\n", "4", "2 EN", "D", kEnd},
            .chat_template = kPrefillTemplate},
           options);
  CHECK(answer.result.reasoning == "an END in it");
  CHECK(answer.result.text == "42 ");
  CHECK(answer.result.finish_reason == FinishReason::stop);
}

TEST_CASE("the context is full, or the prompt too long (K5)") {
  Engine engine(Model::load(support::chain_model({.script = {"a", "b"}, .endless = true})),
                {.kv_tokens = 64});
  Session session = engine.open_session({});
  const std::vector<TokenId> prompt(63, '?');
  session.complete(std::vector<TokenId>(62, '?'));
  CHECK(drain(session).result.token_ids.size() == 2);
  CHECK(session.result().finish_reason == FinishReason::length);
  session.complete(prompt);
  CHECK(drain(session).result.token_ids.size() == 1);
  for (const std::size_t length : {64U, 65U, 1000U}) {
    try {
      session.complete(std::vector<TokenId>(length, '?'));
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::context_length_exceeded);
      CHECK_THAT(error.what(), Catch::Contains("64") && Catch::Contains(std::to_string(length)));
    }
  }
}

TEST_CASE("a follow-up turn computes only what is new, and the history keeps both parts") {
  Engine engine(Model::load(support::chain_model(
      {.script = {"why", "</think>", "so", kEnd}, .chat_template = kPrefillTemplate})));
  Session session = engine.open_session({});
  session.user("one?");
  CHECK(drain(session).result.cached_tokens == 0);
  session.user("two?");
  const Answer second = drain(session);
  // BOS, User and "one?" are the same; then the second prompt goes its own way.
  CHECK(second.result.cached_tokens == 6);
  REQUIRE(session.history().size() == 4);
  CHECK(session.history()[1].content == "so");
  CHECK(session.history()[1].reasoning_content == "why");
  session.reset();
  CHECK(session.history().empty());
}

TEST_CASE("the same prompt again needs only its last token") {
  Engine engine(Model::load(support::chain_model({.script = {"a", kEnd}})));
  Session session = engine.open_session({});
  session.complete("some prompt");
  const auto first = drain(session).result;
  session.complete("some prompt");
  const auto second = drain(session).result;
  CHECK(first.cached_tokens == 0);
  CHECK(second.cached_tokens == static_cast<std::int64_t>(second.prompt_token_ids.size()) - 1);
  CHECK(second.token_ids == first.token_ids);
}

TEST_CASE("exactly one BOS, in chat and in raw prompts (C1)") {
  const Model model =
      Model::load(support::chain_model({.script = {"a", kEnd}, .chat_template = kPrefillTemplate}));
  const TokenId bos = model.tokenizer().find("<｜begin▁of▁sentence｜>");
  Engine engine(model);
  Session session = engine.open_session({});
  const auto bos_count = [&] {
    const auto ids = drain(session).result.prompt_token_ids;
    CHECK(ids.front() == bos);
    return std::count(ids.begin(), ids.end(), bos);
  };
  session.user("hi");
  CHECK(bos_count() == 1);
  session.complete("hi");
  CHECK(bos_count() == 1);
  session.complete("<｜begin▁of▁sentence｜>hi", true);
  CHECK(bos_count() == 1);
}

TEST_CASE("a running answer can be stopped from another thread") {
  Engine engine(Model::load(support::chain_model(
                    {.script = {"a", "b"}, .endless = true, .context = 1 << 20})),
                {.kv_tokens = 1 << 20});
  Session session = engine.open_session({});
  session.complete("?");
  for (int piece = 0; piece < 2; ++piece) REQUIRE(session.next());
  std::thread stopper([&] { session.stop(); });
  while (session.next()) {
  }
  stopper.join();
  CHECK(session.result().text.starts_with("ab"));
  CHECK(session.result().finish_reason == FinishReason::cancelled);
  session.complete("?");
  CHECK(session.next());
}

TEST_CASE("sessions and engines may go while answers run") {
  auto engine = std::make_unique<Engine>(
      Model::load(
          support::chain_model({.script = {"a", "b"}, .endless = true, .context = 1 << 20})),
      EngineOptions{.kv_tokens = 1 << 20});
  {
    Session dropped = engine->open_session({});
    dropped.complete("?");
  }
  Session session = engine->open_session({});
  session.complete("?");
  Session moved = std::move(session);
  CHECK(moved.next());
}

TEST_CASE("mistakes in options show where they are made") {
  Engine engine(Model::load(support::chain_model({.script = {"a", kEnd}})));
  GenerationOptions bad;
  bad.sampling.temperature = -1.0F;
  CHECK_THROWS_WITH(engine.open_session(bad), Catch::Contains("temperature"));
  Session session = engine.open_session({});
  CHECK_THROWS_AS(session.complete(std::vector<TokenId>{}), Error);
  CHECK_THROWS_WITH(session.complete(std::vector<TokenId>{1'000'000}), Catch::Contains("1000000"));
  session.user("x");
  CHECK_THROWS_AS(session.system("late"), Error);
  CHECK_THROWS_WITH(Engine(engine.model(), {.isa = "avx9"}), Catch::Contains("avx9"));
  CHECK_THROWS_WITH(Engine(engine.model(), {.threads = -1}), Catch::Contains("threads"));
}
