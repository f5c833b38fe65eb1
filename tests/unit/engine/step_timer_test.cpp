// The step timer gives a time for what it is asked for and refuses the rest. Nothing is said of how
// long a step may take.
#include <catch2/catch.hpp>
#include <cmath>
#include <tuple>

#include "r1/error.hpp"
#include "r1/measure.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/tiny_r1.hpp"

using r1::StepTimer;

namespace {

const r1::Model& tiny_model() {
  static const r1::Model model = r1::Model::load(r1::support::embedded_path());
  return model;
}

/// At most 64 positions, prompts in chunks of 8, up to 8 sequences.
StepTimer small_timer() { return StepTimer(tiny_model(), {.kv_tokens = 64, .batch_size = 8}); }

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

}  // namespace

TEST_CASE("every step of a decode has its time", "[engine][step_timer]") {
  StepTimer timer = small_timer();
  for (const std::int64_t depth : {0, 1, 16, 61}) {
    for (const std::int64_t batch : {1, 3, 8}) {
      INFO("depth " << depth << ", batch " << batch);
      const auto seconds = timer.decode(3, depth, batch);
      REQUIRE(seconds.size() == 3);
      for (const double s : seconds) CHECK(is_time(s));
    }
  }
}

TEST_CASE("prompts of less, exactly and more than a chunk have a time", "[engine][step_timer]") {
  StepTimer timer = small_timer();
  for (const std::int64_t tokens : {1, 8, 9, 40}) {
    for (const std::int64_t depth : {0, 17, 24}) {
      INFO("tokens " << tokens << ", depth " << depth);
      CHECK(is_time(timer.prefill(tokens, depth)));
    }
  }
}

TEST_CASE("the parts of a step have a time each", "[engine][step_timer]") {
  StepTimer timer = small_timer();
  for (const auto& [tokens, depth, batch] :
       {std::tuple{1, 0, 1}, {1, 40, 8}, {8, 0, 1}, {8, 56, 1}, {3, 5, 2}}) {
    INFO("tokens " << tokens << ", depth " << depth << ", batch " << batch);
    const r1::StageSeconds parts = timer.stages(tokens, depth, batch, 2);
    for (const double part : {parts.embedding, parts.attention, parts.attention_output,
                              parts.gate_up, parts.down, parts.output}) {
      CHECK(is_time(part));
    }
    CHECK(parts.total() == Approx(parts.embedding + parts.attention + parts.attention_output +
                                  parts.gate_up + parts.down + parts.output));
  }
}

TEST_CASE("what does not fit is refused by name", "[engine][step_timer]") {
  StepTimer timer = small_timer();
  CHECK_THROWS_WITH(timer.prefill(0), "prompt: expected 1 to 64, got 0");
  CHECK_THROWS_WITH(timer.prefill(65), "prompt: expected 1 to 64, got 65");
  CHECK_THROWS_WITH(timer.prefill(32, 33), "depth: expected 0 to 32, got 33");
  CHECK_THROWS_WITH(timer.prefill(32, -1), "depth: expected 0 to 32, got -1");
  CHECK_THROWS_WITH(timer.decode(0), "steps: expected 1 to 64, got 0");
  CHECK_THROWS_WITH(timer.decode(4, 61), "depth: expected 0 to 60, got 61");
  CHECK_THROWS_WITH(timer.decode(4, 0, 0), "sequences: expected 1 to 8, got 0");
  CHECK_THROWS_WITH(timer.decode(4, 0, 9), "sequences: expected 1 to 8, got 9");
  CHECK_THROWS_WITH(timer.stages(9), "tokens: expected 1 to 8, got 9");
  CHECK_THROWS_WITH(timer.stages(5, 0, 2), "tokens: expected 1 to 4, got 5");
  CHECK_THROWS_WITH(timer.stages(8, 57), "depth: expected 0 to 56, got 57");
  CHECK_THROWS_WITH(timer.stages(1, 0, 1, 0), Catch::StartsWith("repetitions: expected 1 to"));
  // It goes on after a refusal.
  CHECK(is_time(timer.prefill(8)));
}

TEST_CASE("no figure comes from a model that computes NaN", "[engine][step_timer]") {
  const r1::Model broken = r1::Model::load(r1::support::random_model({.nan_weight = true}));
  StepTimer timer(broken, {.kv_tokens = 32});
  const auto is_non_finite = [](const r1::Error& error) {
    return error.code() == r1::ErrorCode::non_finite;
  };
  CHECK_THROWS_MATCHES(timer.prefill(5, 3), r1::Error,
                       Catch::Predicate<r1::Error>(is_non_finite, "is non_finite"));
  CHECK_THROWS_WITH(timer.prefill(5, 3), Catch::Contains("logits at position 7: expected finite"));
  CHECK_THROWS_WITH(timer.decode(1, 9), Catch::Contains("logits at position 9: expected finite"));
}

TEST_CASE("what was settled is told", "[engine][step_timer]") {
  const StepTimer timer(tiny_model(), {.threads = 1, .threads_batch = 2, .kv_tokens = 64});
  CHECK(timer.info().threads == 1);
  CHECK(timer.info().threads_batch == 2);
  CHECK(timer.info().kv_tokens == 64);
  CHECK_THROWS_AS(StepTimer(tiny_model(), {.isa = "mmx"}), r1::Error);
}
