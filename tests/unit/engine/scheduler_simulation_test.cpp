// The scheduler under a thousand random requests: the world checks every plan, and afterwards
// everyone is done, gaps are bounded, and the same input has given the same run.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>

#include "tests/unit/engine/scheduled_world.hpp"

using namespace r1;
using support::World;
using support::WorldRequest;

namespace {

struct Load {
  std::int64_t requests = 1000;
  double mean_gap_s = 0.5;  ///< between arrivals
  std::int64_t prompt_typical = 200, prompt_max = 6000;
  std::int64_t answer_typical = 60, answer_max = 3000;
  std::uint64_t clients = 12;
  int priorities = 3;
  double cancelled = 0.1;
};

/// Log-normal lengths: most short, a few a hundred times longer.
void fill(World& world, const Load& load, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> gap(1 / load.mean_gap_s);
  std::normal_distribution<double> tail(0, 1.4);
  std::uniform_real_distribution<double> share(0, 1);
  const auto length = [&](std::int64_t typical, std::int64_t most) {
    const double drawn = static_cast<double>(typical) * std::exp(tail(random));
    return std::clamp(static_cast<std::int64_t>(drawn), std::int64_t{1}, most);
  };
  double at = 0;
  for (std::int64_t i = 0; i < load.requests; ++i) {
    at += gap(random);
    // Client 0 sends half of all.
    const std::uint64_t client = share(random) < 0.5 ? 0 : random() % load.clients;
    const int priority = static_cast<int>(random() % static_cast<unsigned>(load.priorities));
    WorldRequest& request =
        world.add(at, client, priority, length(load.prompt_typical, load.prompt_max),
                  length(load.answer_typical, load.answer_max));
    if (share(random) < load.cancelled) request.cancel_at = at + 20 * share(random);
  }
}

double percentile(std::vector<double> values, double share) {
  REQUIRE_FALSE(values.empty());
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

void check_ends(World& world, std::int64_t capacity_tokens) {
  for (const WorldRequest& request : world.requests()) {
    REQUIRE(request.over());
    if (request.cancelled || request.refused) continue;
    if (request.out_of_room) {
      CHECK(request.prompt + request.answer > capacity_tokens);
    } else {
      CHECK(request.generated == request.answer);
    }
  }
}

}  // namespace

TEST_CASE("scheduler: random arrivals all finish and no plan over-commits", "[engine][scheduler]") {
  const std::int64_t capacity = GENERATE(8, 40, 500, 5000);
  for (unsigned seed = 1; seed <= 3; ++seed) {
    CAPTURE(capacity, seed);
    World world({.rows_max = 512, .sequences_max = 32}, capacity, seed);
    world.noise = 0.2;
    world.cached_share = 0.3;
    Load load;
    if (capacity < 100) {
      load.prompt_typical = 40;
      load.answer_typical = 30;
      load.answer_max = 600;
    }
    fill(world, load, seed);
    world.run();
    check_ends(world, capacity * World::kPage);
    std::int64_t most = 0;
    for (const WorldRequest& request : world.requests()) {
      most = std::max(most, request.preemptions);
    }
    CAPTURE(most);
    CHECK(most <= 12);
  }
}

TEST_CASE("scheduler: prefill hardly ever holds streams up for longer than max_stall",
          "[engine][scheduler]") {
  const double max_stall = GENERATE(0.1, 0.5);
  const double slowness = GENERATE(1.0, 20.0);
  for (unsigned seed = 1; seed <= 3; ++seed) {
    CAPTURE(max_stall, slowness, seed);
    World world({.rows_max = 512, .sequences_max = 32, .max_stall_s = max_stall}, 20000, seed);
    world.noise = 0.2;
    world.cached_share = 0.2;
    const auto cost = world.cost;
    world.cost = [&](std::int64_t decode, std::int64_t prefill, double depth) {
      return cost(decode, 0, 0) + slowness * (cost(0, prefill, depth) - cost(0, 0, 0));
    };
    Load load;
    load.mean_gap_s = 1.5 * slowness;
    load.answer_typical = 200;
    fill(world, load, seed);
    world.run();
    REQUIRE(world.gaps.size() > 10000);
    CHECK(percentile(world.gaps, 0.99) <= max_stall + percentile(world.streams, 0.99));
    // The bound is used, not only kept.
    CHECK(percentile(world.gaps, 0.995) >= max_stall / 3);
  }
}

TEST_CASE("scheduler: a step that stood still does not slow what follows", "[engine][scheduler]") {
  World world({.rows_max = 512, .sequences_max = 8}, 5000);
  const auto cost = world.cost;
  world.cost = [&](std::int64_t decode, std::int64_t prefill, double depth) {
    return world.steps == 20 ? 60.0 : cost(decode, prefill, depth);
  };
  world.add(0, 1, 0, 10, 100000);
  WorldRequest& document = world.add(1, 2, 0, 20000, 1);
  while (!document.over()) world.step();
  // 20,000 tokens beside a stream: 40 s of rows, more with depth, and a decode step for each chunk.
  CHECK(document.finished_at < 60 + 1 + 180);
}

TEST_CASE("scheduler: the same input gives the same run", "[engine][scheduler]") {
  std::vector<double> first;
  for (int time = 0; time < 2; ++time) {
    World world({.rows_max = 128, .sequences_max = 16}, 200, 5);
    world.noise = 0.3;
    fill(world, {.requests = 300}, 5);
    world.run();
    std::vector<double> times;
    for (const WorldRequest& request : world.requests()) {
      times.push_back(request.started_at);
      times.push_back(request.finished_at);
    }
    if (time == 0) {
      first = times;
    } else {
      CHECK(times == first);
    }
  }
}
