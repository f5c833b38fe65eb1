// ThoughtControl as a state machine: budgets, graces, room, loops, the caller's wish, alone and
// together, and as a property over random limits.
#include "libr1/engine/thought_control.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <string>

#include "r1/error.hpp"

using namespace r1;
using engine::answer_reserve;
using engine::sentence_grace;
using engine::ThoughtControl;
using engine::ThoughtLimits;
using engine::ThoughtStep;

namespace {

constexpr std::int64_t kRoom = 100000;

/// Feeds a thought of `word` again and again with new ids, a second a token, and `stop` after each
/// `sentence` tokens. Returns after how many tokens the thought is closed.
std::int64_t think(ThoughtControl& control, std::int64_t most, std::int64_t sentence = 0,
                   const std::string& stop = ".", double s_per_token = 1) {
  if (control.begin(true, 0) == ThoughtStep::close_thought) return 0;
  for (std::int64_t n = 1; n <= most; ++n) {
    const bool ends = sentence > 0 && n % sentence == 0;
    const std::string bytes = ends ? stop : " word";
    const auto step = control.accept({static_cast<TokenId>(n), bytes, true},
                                     s_per_token * static_cast<double>(n));
    if (step == ThoughtStep::close_thought) return n;
    REQUIRE(step == ThoughtStep::proceed);
  }
  return -1;
}

/// The forced tokens and an answer of `length` different tokens.
void answer(ThoughtControl& control, std::int64_t length) {
  CHECK(control.accept({198, "\n", true}, 0) == ThoughtStep::proceed);
  CHECK(control.accept({199, "</think>", false}, 0) == ThoughtStep::proceed);
  CHECK(control.accept({200, "\n\n", false}, 0) == ThoughtStep::proceed);
  for (std::int64_t i = 0; i < length; ++i) {
    CHECK(control.accept({static_cast<TokenId>(i), "x", false}, 0) == ThoughtStep::proceed);
  }
}

}  // namespace

TEST_CASE("thought control: names of the ends", "[engine][thought]") {
  CHECK(to_string(ThoughtEnd::none) == std::string("none"));
  CHECK(to_string(ThoughtEnd::model) == std::string("model"));
  CHECK(to_string(ThoughtEnd::budget) == std::string("budget"));
  CHECK(to_string(ThoughtEnd::loop) == std::string("loop"));
  CHECK(to_string(ThoughtEnd::user) == std::string("user"));
}

TEST_CASE("thought control: budgets that make no sense are refused", "[engine][thought]") {
  GenerationOptions options;
  CHECK_NOTHROW(engine::check_think_budget(options));
  options.think_budget_tokens = 0;
  options.think_budget_seconds = 0;
  CHECK_NOTHROW(engine::check_think_budget(options));
  options.think_budget_tokens = std::numeric_limits<std::int64_t>::max();
  options.think_budget_seconds = std::numeric_limits<double>::max();
  CHECK_NOTHROW(engine::check_think_budget(options));
  options.think_budget_tokens = -1;
  CHECK_THROWS_AS(engine::check_think_budget(options), Error);
  options.think_budget_tokens = {};
  for (const double bad :
       {-0.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    options.think_budget_seconds = bad;
    CHECK_THROWS_AS(engine::check_think_budget(options), Error);
  }
}

TEST_CASE("thought control: the model closes its thought in its own time", "[engine][thought]") {
  ThoughtControl control({.budget_tokens = 100, .room = kRoom});
  CHECK(think(control, 50, 10) == -1);
  CHECK(control.accept({7, "</think>", false}, 51) == ThoughtStep::proceed);
  CHECK(control.thought_end() == ThoughtEnd::model);
  CHECK(control.thought_tokens() == 50);
  for (int i = 0; i < 500; ++i) {
    CHECK(control.accept({i, ".", false}, 1e6) == ThoughtStep::proceed);
  }
  CHECK(control.thought_end() == ThoughtEnd::model);
  CHECK_FALSE(control.loop());
}

TEST_CASE("thought control: past its budget a thought ends with its sentence",
          "[engine][thought]") {
  const ThoughtLimits limits{.budget_tokens = 100, .room = kRoom};
  {
    ThoughtControl control(limits);
    CHECK(think(control, 1000, 15) == 105);
    CHECK(control.thought_end() == ThoughtEnd::budget);
    answer(control, 600);
    CHECK(control.thought_end() == ThoughtEnd::budget);
    CHECK(control.thought_tokens() == 105);
  }
  {
    ThoughtControl control(limits);
    CHECK(think(control, 1000, 25) == 100);
  }
  for (const char* stop : {"。", "！", "？\n", "\n\n", "?\"", ".\n"}) {
    INFO(stop);
    ThoughtControl control(limits);
    CHECK(think(control, 1000, 15, stop) == 105);
  }
}

TEST_CASE("thought control: without a sentence end the grace decides", "[engine][thought]") {
  for (const auto& [budget, grace] :
       {std::pair<std::int64_t, std::int64_t>{1, 32}, {100, 32}, {500, 50}, {5000, 128}}) {
    CAPTURE(budget);
    ThoughtControl control({.budget_tokens = budget, .room = kRoom});
    CHECK(think(control, 10000) == budget + grace);
    CHECK(control.thought_end() == ThoughtEnd::budget);
  }
}

TEST_CASE("thought control: a number is not broken", "[engine][thought]") {
  ThoughtControl control({.budget_tokens = 2, .room = kRoom});
  REQUIRE(control.begin(true, 0) == ThoughtStep::proceed);
  for (const char* bytes : {" pi", " is", " 3", ".", "1", "4"}) {
    CHECK(control.accept({1, bytes, true}, 0) == ThoughtStep::proceed);
  }
  // A full stop of three bytes, in three tokens.
  CHECK(control.accept({2, "\xE3", true}, 0) == ThoughtStep::proceed);
  CHECK(control.accept({3, "\x80", true}, 0) == ThoughtStep::proceed);
  CHECK(control.accept({4, "\x82", true}, 0) == ThoughtStep::close_thought);
}

TEST_CASE("thought control: a budget in seconds runs while the thought does", "[engine][thought]") {
  ThoughtControl control({.budget_s = 30, .room = kRoom});
  CHECK(think(control, 1000, 7, ".", 0.5) == 63);
  CHECK(control.thought_end() == ThoughtEnd::budget);
  ThoughtControl endless({.budget_s = 30, .room = kRoom});
  CHECK(think(endless, 1000, 0, ".", 0.5) == 60 + 32);
  ThoughtControl both({.budget_tokens = 20, .budget_s = 30, .room = kRoom});
  CHECK(think(both, 1000, 7, ".", 0.5) == 21);
}

TEST_CASE("thought control: a budget of nothing skips the thought", "[engine][thought]") {
  for (const bool seconds : {false, true}) {
    ThoughtLimits limits{.room = kRoom};
    (seconds ? void(limits.budget_s = 0) : void(limits.budget_tokens = 0));
    ThoughtControl opened_by_prompt(limits);
    CHECK(opened_by_prompt.begin(true, 5) == ThoughtStep::close_thought);
    CHECK(opened_by_prompt.closing_text() == "\n</think>\n\n");
    CHECK(opened_by_prompt.thought_end() == ThoughtEnd::budget);

    ThoughtControl opened_by_model(limits);
    CHECK(opened_by_model.begin(false, 5) == ThoughtStep::proceed);
    CHECK(opened_by_model.accept({1, "<think>", true}, 6) == ThoughtStep::close_thought);
    CHECK(opened_by_model.closing_text() == "\n\n</think>\n\n");

    ThoughtControl no_thought(limits);
    CHECK(no_thought.begin(false, 5) == ThoughtStep::proceed);
    CHECK(no_thought.accept({1, "Yes.", false}, 6) == ThoughtStep::proceed);
    CHECK(no_thought.thought_end() == ThoughtEnd::none);
  }
}

TEST_CASE("thought control: what closes a thought fits where it stands", "[engine][thought]") {
  ThoughtControl control({.room = kRoom});
  control.begin(true, 0);
  control.accept({1, "So 12.", true}, 0);
  CHECK(control.closing_text() == "\n</think>\n\n");
  control.accept({2, ".\n", true}, 0);
  CHECK(control.closing_text() == "</think>\n\n");
}

TEST_CASE("thought control: room for the answer is kept", "[engine][thought]") {
  CHECK(answer_reserve(3) == 0);
  CHECK(answer_reserve(400) == 100);
  CHECK(answer_reserve(100000) == 256);
  for (const std::int64_t sentence : {0, 7, 1000}) {
    for (std::int64_t room = 1; room <= 2000; room += room < 80 ? 1 : 61) {
      CAPTURE(sentence, room);
      const std::int64_t reserve = answer_reserve(room);
      ThoughtControl control({.room = room, .reserve = reserve, .closing_tokens = 4});
      const std::int64_t closed = think(control, room, sentence);
      if (reserve == 0 || room <= 4) {
        CHECK(closed == -1);
        continue;
      }
      REQUIRE(closed >= 0);
      CHECK(control.thought_end() == ThoughtEnd::budget);
      CHECK(closed <= std::max<std::int64_t>(0, room - reserve - 4));
      // And not much sooner than it must.
      CHECK(2 * closed >= room - reserve - 5);
      if (sentence == 0) CHECK(closed == std::max<std::int64_t>(0, room - reserve - 4));
    }
  }
  ThoughtControl unkept({.room = 100});
  CHECK(think(unkept, 100, 5) == -1);
}

TEST_CASE("thought control: a loop in the thought ends it", "[engine][thought]") {
  for (const bool stop_loops : {true, false}) {
    ThoughtControl control({.room = kRoom, .stop_loops = stop_loops});
    REQUIRE(control.begin(true, 0) == ThoughtStep::proceed);
    std::int64_t closed = -1;
    for (std::int64_t n = 1; n <= 2000 && closed < 0; ++n) {
      // Sentences of ten tokens, each the same.
      const TokenId id = static_cast<TokenId>(n % 10);
      if (control.accept({id, id == 0 ? "." : " hm", true}, 0) == ThoughtStep::close_thought) {
        closed = n;
      }
    }
    CHECK(closed == (stop_loops ? 260 : -1));
    CHECK(control.thought_end() == (stop_loops ? ThoughtEnd::loop : ThoughtEnd::none));
    CHECK_FALSE(control.loop());
    if (!stop_loops) continue;
    // The answer begins with a clean slate.
    answer(control, 400);
  }
}

TEST_CASE("thought control: a loop in the answer ends the generation", "[engine][thought]") {
  const bool stop_loops = GENERATE(true, false);
  ThoughtControl control({.room = kRoom, .stop_loops = stop_loops});
  control.begin(false, 0);
  std::int64_t ended = -1;
  for (std::int64_t n = 1; n <= 3000 && ended < 0; ++n) {
    if (control.accept({static_cast<TokenId>(n % 3), "a", false}, 0) ==
        ThoughtStep::end_generation) {
      ended = n;
    }
  }
  CHECK(ended == (stop_loops ? 512 : -1));
  CHECK(control.loop() == stop_loops);
  CHECK(control.thought_end() == ThoughtEnd::none);
}

TEST_CASE("thought control: the caller ends the thought at once", "[engine][thought]") {
  ThoughtControl control({.room = kRoom});
  CHECK(think(control, 10) == -1);
  control.end_thought();
  CHECK(control.accept({99, " and", true}, 11) == ThoughtStep::close_thought);
  CHECK(control.thought_end() == ThoughtEnd::user);
  answer(control, 20);

  ThoughtControl early({.room = kRoom});
  early.end_thought();
  CHECK(early.begin(true, 0) == ThoughtStep::close_thought);

  ThoughtControl late({.room = kRoom});
  late.begin(true, 0);
  late.accept({1, "</think>", false}, 1);
  late.end_thought();
  CHECK(late.accept({2, "Yes", false}, 2) == ThoughtStep::proceed);
  CHECK(late.thought_end() == ThoughtEnd::model);
}

TEST_CASE("thought control: whatever the limits, a thought is closed once and in time",
          "[engine][thought]") {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    ThoughtLimits limits{.room = 1 + static_cast<std::int64_t>(random() % 600)};
    if (random() % 2 == 0) limits.budget_tokens = random() % 300;
    if (random() % 2 == 0) limits.budget_s = static_cast<double>(random() % 300);
    limits.reserve = random() % 2 == 0 ? answer_reserve(limits.room) : 0;
    const auto sentence = static_cast<std::int64_t>(random() % 60);
    ThoughtControl control(limits);
    const std::int64_t closed = think(control, limits.room, sentence);
    const auto at_most = [&](std::int64_t most) {
      CHECK(closed <= most);
      if (limits.room > most) CHECK(closed >= 0);
    };
    CAPTURE(round, limits.room, limits.reserve, sentence);
    if (limits.budget_tokens) at_most(*limits.budget_tokens + sentence_grace(300));
    if (limits.budget_s) {
      at_most(static_cast<std::int64_t>(*limits.budget_s) + sentence_grace(300));
    }
    if (limits.reserve > 0 && limits.room > limits.closing_tokens) {
      REQUIRE(closed >= 0);
      CHECK(closed + limits.closing_tokens + limits.reserve <=
            std::max(limits.room, limits.closing_tokens + limits.reserve));
    }
    if (closed >= 0) answer(control, 10);
  }
}
