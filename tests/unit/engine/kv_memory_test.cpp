// Keys and values in little memory and in every type: answers stay those of a lone, cold run, and
// what cannot fit is refused early, with numbers.
#include <catch2/catch.hpp>
#include <vector>

#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/support/random_model.hpp"

using namespace r1;

namespace {

GenerationOptions sampled(std::int64_t tokens) {
  GenerationOptions options;
  options.sampling.temperature = 0.8F;
  options.sampling.seed = 11;
  options.max_tokens = tokens;
  options.ignore_eos = true;
  return options;
}

Generation drain(Session& session) {
  while (session.next()) {
  }
  return session.result();
}

std::int64_t page_bytes(const Model& model, KvType type) {
  return Engine(model, {.threads = 1, .kv_type = type}).kv_usage().page_bytes;
}

}  // namespace

TEST_CASE("more conversations than the pool holds at once all end with their own answer") {
  const Model model = Model::load(support::random_model({.type = kernels::WeightType::q4_k}));
  constexpr std::int64_t kPages = 12;
  for (const KvType type : {KvType::f32, KvType::f16, KvType::q8}) {
    INFO(to_string(type));
    Engine small(model, {.threads = 2,
                         .kv_tokens = 160,
                         .batch_size = 32,
                         .kv_type = type,
                         .kv_memory = kPages * page_bytes(model, type)});
    CHECK(small.kv_usage().capacity == kPages);
    CHECK(small.info().kv_type == type);
    std::vector<Session> sessions;
    std::vector<std::vector<TokenId>> prompts;
    for (std::uint64_t i = 0; i < 8; ++i) {
      // Every second one begins like all the others of its kind.
      auto prompt = support::random_tokens(20, 256, i % 2 == 0 ? 1 : i);
      const auto rest = support::random_tokens(static_cast<std::int64_t>(10 + 7 * i), 256, 50 + i);
      prompt.insert(prompt.end(), rest.begin(), rest.end());
      prompts.push_back(prompt);
      sessions.push_back(small.open_session(sampled(60)));
      sessions.back().complete(prompt);
    }
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      const Generation result = drain(sessions[i]);
      INFO("request " << i << ": " << result.error);
      REQUIRE(result.finish_reason == FinishReason::length);
      Engine lone(model, {.threads = 1, .kv_type = type});
      Session cold = lone.open_session(sampled(60));
      cold.complete(prompts[i]);
      CHECK(drain(cold).token_ids == result.token_ids);
    }
    const KvUsage after = small.kv_usage();
    CHECK(after.used == 0);
    CHECK(after.free + after.cached == after.capacity);
  }
}

TEST_CASE("a prompt that can never fit is refused at once, with the numbers (R4)") {
  const Model model = Model::load(support::random_model({}));
  Engine engine(model, {.threads = 1, .kv_memory = 3 * page_bytes(model, KvType::f16)});
  Session session = engine.open_session(sampled(4));
  session.complete(support::random_tokens(47, 256, 1));  // 48 tokens are three pages
  CHECK(drain(session).finish_reason == FinishReason::length);
  try {
    session.complete(support::random_tokens(48, 256, 1));
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::context_length_exceeded);
    CHECK_THAT(error.what(), Catch::Contains("48"));
  }
  CHECK_THROWS_WITH(Engine(model, {.kv_memory = 1}), Catch::Contains("kv_memory: expected"));
  CHECK_THROWS_WITH(Engine(model, {.max_stall_s = 0}), Catch::Contains("max_stall_s"));
}

TEST_CASE("prompts of one key are no one else's") {
  const Model model = Model::load(support::random_model({}));
  Engine engine(model, {.threads = 1});
  const auto prompt = support::random_tokens(70, 256, 3);
  const auto cached = [&](const char* key) {
    GenerationOptions options = sampled(2);
    options.cache_key = key;
    Session session = engine.open_session(options);
    session.complete(prompt);
    return drain(session).cached_tokens;
  };
  CHECK(cached("") == 0);
  CHECK(cached("a") == 0);
  CHECK(cached("b") == 0);
  CHECK(cached("a") == 69);
  CHECK(cached("") == 69);
}

TEST_CASE("cancelling ends a request within a step, running or waiting") {
  const Model model = Model::load(support::random_model({}));
  constexpr std::int64_t kTokens = 32000;
  Engine engine(model, {.threads = 1,
                        .kv_tokens = kTokens,
                        .kv_memory = kTokens / 16 * page_bytes(model, KvType::f16)});
  // Both would take seconds.
  Session running = engine.open_session(sampled(kTokens));
  Session waiting = engine.open_session(sampled(60));
  running.complete(support::random_tokens(20, 256, 1));
  waiting.complete(support::random_tokens(kTokens - 100, 256, 2));
  waiting.stop();
  CHECK(drain(waiting).finish_reason == FinishReason::cancelled);
  running.stop();
  CHECK(drain(running).finish_reason == FinishReason::cancelled);
  CHECK(engine.kv_usage().used == 0);
}
