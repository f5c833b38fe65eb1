// Case G2: one engine goes through every number out of range and at the edge of its range; a number
// is taken or refused by name, and afterwards a usual request gives its usual tokens.
#include <catch2/catch.hpp>
#include <limits>

#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/support/random_model.hpp"

using namespace r1;

namespace {

constexpr std::int64_t kBig = std::numeric_limits<std::int64_t>::max();
constexpr TokenId kRows = 320;
/// 256 bytes and five added tokens; the other rows have no name.
constexpr TokenId kNamed = 261;

GenerationOptions drawn() {
  GenerationOptions options;
  options.max_tokens = 6;
  options.ignore_eos = true;
  options.sampling.temperature = 1.0F;
  options.sampling.seed = 5;
  return options;
}

/// The generated ids; empty and `refused` holding the message when the options are refused.
std::vector<TokenId> run(Engine& engine, const GenerationOptions& options, std::string& refused) {
  refused.clear();
  try {
    Session session = engine.open_session(options);
    session.complete(support::random_tokens(8, 256, 3));
    while (session.next()) {
    }
    CHECK(session.result().finish_reason == FinishReason::length);
    return session.result().token_ids;
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    refused = error.what();
    return {};
  }
}

}  // namespace

TEST_CASE("an engine survives every number and then answers as before (G2)") {
  Engine engine(Model::load(support::random_model({})), {.threads = 1});
  std::string refused;
  const auto usual = run(engine, drawn(), refused);
  REQUIRE(usual.size() == 6);

  const auto check_taken = [&](const GenerationOptions& options) {
    const auto ids = run(engine, options, refused);
    CHECK(refused.empty());
    CHECK(ids.size() == 6);
    for (const TokenId id : ids) CHECK((id >= 0 && id < kNamed));
  };
  for (const std::int64_t top_k : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1},
                                   std::int64_t{151936}, std::int64_t{1} << 31, kBig}) {
    INFO("top_k " << top_k);
    GenerationOptions options = drawn();
    options.sampling.top_k = top_k;
    check_taken(options);
  }
  for (const float share : {0.0F, 1e-9F, 1.0F}) {
    GenerationOptions options = drawn();
    options.sampling.top_p = share;
    check_taken(options);
    options.sampling.top_p = 1.0F;
    options.sampling.min_p = share;
    check_taken(options);
  }
  // Unnamed rows stay out of reach, however large the bias.
  for (const auto& [id, bias] :
       {std::pair<TokenId, float>{kRows - 1, 1e30F}, {kNamed, 1e30F}, {0, -1e30F}, {97, 1e30F}}) {
    INFO("bias of " << id);
    GenerationOptions options = drawn();
    options.sampling.logit_bias = {{id, bias}};
    check_taken(options);
  }

  const auto check_refused = [&](const GenerationOptions& options, const std::string& field) {
    run(engine, options, refused);
    CHECK_THAT(refused, Catch::StartsWith(field) && Catch::Contains("expected"));
  };
  for (const float bad : {1.1F, -0.1F, std::numeric_limits<float>::quiet_NaN()}) {
    GenerationOptions options = drawn();
    options.sampling.top_p = bad;
    check_refused(options, "top_p");
    options = drawn();
    options.sampling.min_p = bad;
    check_refused(options, "min_p");
  }
  for (const TokenId id : {-1, static_cast<int>(kRows), 1000000000}) {
    GenerationOptions options = drawn();
    options.sampling.logit_bias = {{id, 1.0F}};
    check_refused(options, "logit_bias");
  }
  GenerationOptions options = drawn();
  options.max_tokens = -2;
  check_refused(options, "max_tokens");
  options = drawn();
  options.stop = {""};
  check_refused(options, "stop");

  CHECK(run(engine, drawn(), refused) == usual);
}
