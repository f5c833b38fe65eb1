// The same request gives the same tokens: alone or beside others, cold or warm, any chunk, any
// threads (G4); and a model that computes NaN ends its own request only (G1).
#include <algorithm>
#include <catch2/catch.hpp>

#include "r1/engine.hpp"
#include "tests/support/random_model.hpp"

using namespace r1;

namespace {

std::vector<TokenId> tokens_of(Session& session) {
  while (session.next()) {
  }
  return session.result().token_ids;
}

GenerationOptions options_for(float temperature, std::uint64_t seed) {
  GenerationOptions options;
  options.sampling.temperature = temperature;
  options.sampling.seed = seed;
  options.max_tokens = 64;
  options.ignore_eos = true;
  return options;
}

}  // namespace

TEST_CASE("equal requests give equal tokens whatever is around them") {
  const Model model = Model::load(support::random_model({.type = kernels::WeightType::q4_k}));
  const auto prompt = support::random_tokens(30, 256, 21);
  for (const float temperature : {0.0F, 0.8F}) {
    for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{0xFFFFFFFF},
                                     std::uint64_t{1} << 32, (std::uint64_t{1} << 63) - 1}) {
      const auto options = options_for(temperature, seed);
      Engine plain(model, {.threads = 1});
      Session first = plain.open_session(options);
      first.complete(prompt);
      const auto expected = tokens_of(first);
      REQUIRE(expected.size() == 64);
      CHECK(first.result().seed == seed);
      first.complete(prompt);
      CHECK(tokens_of(first) == expected);

      for (const int threads : {2, 4}) {
        for (const std::int64_t chunk : {1, 7, 32, 512}) {
          Engine other(model, {.threads = threads, .batch_size = chunk});
          Session session = other.open_session(options);
          session.complete(prompt);
          CHECK(tokens_of(session) == expected);
        }
      }

      Engine busy(model, {.threads = 2});
      std::vector<Session> crowd;
      for (std::uint64_t i = 0; i < 7; ++i) {
        crowd.push_back(busy.open_session(options_for(1.0F, i)));
        crowd.back().complete(
            support::random_tokens(20 + static_cast<std::int64_t>(i) * 13, 256, i));
      }
      Session beside = busy.open_session(options);
      beside.complete(prompt);
      CHECK(tokens_of(beside) == expected);
    }
  }
}

TEST_CASE("seeds matter, and an empty one is drawn and reported") {
  const Model model = Model::load(support::random_model({}));
  Engine engine(model);
  const auto run = [&](std::optional<std::uint64_t> seed) {
    GenerationOptions options = options_for(1.0F, 0);
    options.sampling.seed = seed;
    Session session = engine.open_session(options);
    session.complete(support::random_tokens(5, 256, 2));
    tokens_of(session);
    return session.result();
  };
  CHECK(run(1).token_ids != run(2).token_ids);
  const Generation drawn = run(std::nullopt);
  CHECK(run(drawn.seed).token_ids == drawn.token_ids);
  CHECK(run(std::nullopt).seed != run(std::nullopt).seed);
}

TEST_CASE("unused ids are never generated") {
  const Model model = Model::load(support::random_model({}));
  Engine engine(model);
  GenerationOptions options = options_for(5.0F, 3);
  options.max_tokens = 500;
  Session session = engine.open_session(options);
  session.complete(support::random_tokens(5, 256, 2));
  const auto ids = tokens_of(session);
  // 256 bytes and five added tokens are named, the rest of the 320 rows is padding.
  CHECK(*std::max_element(ids.begin(), ids.end()) < 261);
}

TEST_CASE("NaN ends the request with an error, not with an endless string of one token") {
  const Model broken = Model::load(support::random_model({.nan_weight = true}));
  Engine engine(broken);
  Session session = engine.open_session(options_for(0.0F, 1));
  for (int i = 0; i < 2; ++i) {
    session.complete(support::random_tokens(9, 256, 2));
    CHECK_FALSE(session.next());
    CHECK(session.result().finish_reason == FinishReason::error);
    CHECK_THAT(session.result().error, Catch::Contains("NaN"));
    CHECK(session.result().token_ids.empty());
    CHECK(session.result().cached_tokens == 0);
  }
}
