// The scheduler's rules one by one: rows, turns, priorities, pages, and that nothing starves even
// when others never stop coming.
#include "libr1/engine/scheduler.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "r1/error.hpp"
#include "tests/unit/engine/scheduled_world.hpp"

using namespace r1;
using engine::ScheduledRequest;
using engine::Scheduler;
using support::World;
using support::WorldRequest;

namespace {

/// A step of one second, whatever is in it.
void one_second_steps(World& world) {
  world.cost = [](std::int64_t, std::int64_t, double) { return 1.0; };
}

/// A stream with `position` tokens held and one pending.
ScheduledRequest stream(std::uint64_t arrival, std::int64_t position) {
  ScheduledRequest request;
  request.client = request.arrival = arrival;
  request.since = static_cast<double>(arrival);
  request.position = position;
  request.pending = 1;
  request.generating = request.running = true;
  request.pages_held = request.pages_exclusive = (position + 15) / 16;
  return request;
}

ScheduledRequest waiting(std::uint64_t arrival, std::int64_t prompt) {
  ScheduledRequest request;
  request.client = request.arrival = arrival;
  request.since = static_cast<double>(arrival);
  request.pending = prompt;
  return request;
}

/// The clients in the order in which their requests started.
std::vector<std::uint64_t> start_order(World& world) {
  std::vector<std::pair<double, std::uint64_t>> starts;
  for (const auto& request : world.requests()) {
    starts.emplace_back(request.started_at, request.state.client);
  }
  std::sort(starts.begin(), starts.end());
  std::vector<std::uint64_t> clients;
  for (const auto& start : starts) clients.push_back(start.second);
  return clients;
}

}  // namespace

TEST_CASE("scheduler: a prompt that can never fit is refused with numbers", "[scheduler]") {
  CHECK_NOTHROW(Scheduler::admit(159, 10));
  try {
    Scheduler::admit(160, 10);
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::context_length_exceeded);
    CHECK(error.what() == std::string("prompt: expected at most 159 tokens (KV pool of 10 pages of "
                                      "16 tokens, one left for the answer), got 160"));
  }
}

TEST_CASE("scheduler: prefill takes whole steps until somebody streams", "[scheduler]") {
  Scheduler scheduler({.rows_max = 512});
  ScheduledRequest first = waiting(1, 700);
  ScheduledRequest* all[] = {&first};
  const auto& plan = scheduler.plan(all, {1000, 1000}, 5);
  REQUIRE(plan.rows.size() == 1);
  CHECK(plan.start == std::vector<std::size_t>{0});
  CHECK(plan.rows[0].tokens == 512);
  CHECK(plan.prefill_rows == 512);

  // 2 ms a row, known well: 0.5 s is 250 rows.
  for (int i = 0; i < 200; ++i) scheduler.learn(0, 512, 0.002 * 512);
  ScheduledRequest running = stream(2, 40);
  ScheduledRequest* both[] = {&first, &running};
  scheduler.plan(both, {1000, 1000}, 6);
  REQUIRE(plan.rows.size() == 2);
  CHECK(plan.rows[0].request == 1);
  CHECK(plan.rows[0].tokens == 1);
  CHECK(plan.rows[1].request == 0);
  CHECK(plan.rows[1].tokens >= 240);
  CHECK(plan.rows[1].tokens <= 250);
}

TEST_CASE("scheduler: forced tokens and drafts of a stream go in one step", "[scheduler]") {
  Scheduler scheduler({.rows_max = 8});
  ScheduledRequest a = stream(1, 10), b = stream(2, 10), c = waiting(3, 100);
  a.pending = 4;
  b.pending = 16;
  ScheduledRequest* all[] = {&a, &b, &c};
  const auto& plan = scheduler.plan(all, {1000, 1000}, 5);
  // Of eight rows four are a's, one is left for prefill, and b gets what is between.
  REQUIRE(plan.rows.size() == 3);
  CHECK(plan.rows[0].tokens == 4);
  CHECK(plan.rows[1].tokens == 3);
  CHECK(plan.rows[2].tokens == 1);
  CHECK(plan.decode_rows == 7);
}

TEST_CASE("scheduler: the worst standing runner gives its pages to a better one", "[scheduler]") {
  Scheduler scheduler({});
  ScheduledRequest old = stream(1, 64), middle = stream(2, 40), young = stream(3, 20);
  SECTION("the youngest") {}
  SECTION("a lower priority, though older") {
    young.priority = middle.priority = 1;
    std::swap(old.since, young.since);
    std::swap(old.position, young.position);
    std::swap(old.pages_held, young.pages_held);
    std::swap(old.pages_exclusive, young.pages_exclusive);
    old.since = 2.5;
  }
  ScheduledRequest* all[] = {&middle, &old, &young};
  const std::size_t victim = old.position == 64 ? 2 : 1;
  const auto& plan = scheduler.plan(all, {0, 9}, 10);
  CHECK(plan.preempt == std::vector<std::size_t>{victim});
  CHECK_FALSE(all[victim]->running);
  CHECK(plan.rows.size() == 2);
  CHECK(plan.start.empty());
}

TEST_CASE("scheduler: the worst one left waits for a page and keeps its own", "[scheduler]") {
  Scheduler scheduler({});
  ScheduledRequest old = stream(1, 40), young = stream(2, 32);
  ScheduledRequest* all[] = {&old, &young};
  const auto& plan = scheduler.plan(all, {0, 5}, 10);
  CHECK(plan.preempt.empty());
  CHECK(plan.out_of_room.empty());
  REQUIRE(plan.rows.size() == 1);
  CHECK(plan.rows[0].request == 0);
  CHECK(young.running);

  ScheduledRequest* alone[] = {&young};
  scheduler.plan(alone, {0, 2}, 11);
  CHECK(plan.out_of_room == std::vector<std::size_t>{0});
}

TEST_CASE("scheduler: a shared page that must be copied counts", "[scheduler]") {
  Scheduler scheduler({});
  ScheduledRequest a = stream(1, 20), b = stream(2, 20);
  a.pages_exclusive = b.pages_exclusive = 0;
  a.pages_copied = b.pages_copied = 1;
  ScheduledRequest* all[] = {&a, &b};
  CHECK(scheduler.plan(all, {2, 4}, 3).rows.size() == 2);
  CHECK(scheduler.plan(all, {1, 3}, 3).rows.size() == 1);
}

TEST_CASE("scheduler: clients take turns however many requests one has", "[scheduler]") {
  World world({.rows_max = 64, .sequences_max = 2}, 1000);
  for (int i = 0; i < 50; ++i) world.add(0, 1, 0, 20, 10);
  for (int i = 0; i < 10; ++i) world.add(0.5, 2, 0, 20, 10);
  world.run();
  const std::vector<std::uint64_t> order = start_order(world);
  const auto second = std::find(order.begin(), order.end(), 2);
  // A few of the first client's may have started before the second came, and one after.
  REQUIRE(second - order.begin() <= 8);
  std::vector<std::uint64_t> turns;
  for (int i = 0; i < 10; ++i) turns.insert(turns.end(), {2, 1});
  CHECK(std::vector<std::uint64_t>(second, second + 20) == turns);
}

TEST_CASE("scheduler: many at one moment take turns as well", "[scheduler]") {
  World world({.rows_max = 64, .sequences_max = 1}, 1000);
  for (const std::uint64_t client : {1, 1, 1, 1, 2, 2, 3}) world.add(0, client, 0, 64, 1);
  world.run();
  CHECK(start_order(world) == std::vector<std::uint64_t>{1, 2, 3, 1, 2, 1, 1});
}

TEST_CASE("scheduler: a higher priority goes first, and waiting makes up for it", "[scheduler]") {
  // One at a time, five steps of a second each; urgent ones come twice as fast as they are served.
  World world({.rows_max = 64, .sequences_max = 1, .priority_s = 10}, 1000);
  one_second_steps(world);
  const WorldRequest& plain = world.add(0, 1, 0, 10, 5);
  const WorldRequest& low = world.add(0, 2, -2, 10, 5);
  for (int i = 0; i < 100; ++i) world.add(0.1 + i * 2.5, 3, 3, 10, 5);
  world.run();
  CHECK(plain.started_at == 0);
  // Five steps of priority are fifty seconds; one that runs is not interrupted. A turn of client 3
  // begins anew with each start, so it is not even its whole queue that goes first.
  CHECK(low.started_at > 30);
  CHECK(low.started_at <= 50 + 5 + 5);
}

TEST_CASE("scheduler: short questions pass a long document, which still ends", "[scheduler]") {
  World world({.rows_max = 512, .sequences_max = 16}, 100000);
  WorldRequest& warm_up = world.add(0, 9, 0, 2000, 1);
  const WorldRequest& document = world.add(10, 1, 0, 20000, 1);
  for (int i = 0; i < 2000; ++i) {
    world.add(10.5 + i * 0.1, 2 + static_cast<std::uint64_t>(i), 0, 45, 1);
  }
  world.run();
  REQUIRE(warm_up.over());
  const WorldRequest& question = world.requests()[2];
  CHECK(question.finished_at - question.arrived_at < 2.5);
  // Alone it takes about 90 s; questions take most of the time, but only those that come within
  // its own time go first.
  CHECK(document.finished_at < 10 + 3.5 * 90);
  CHECK(document.finished_at < world.requests().back().finished_at + 100);
}

TEST_CASE("scheduler: new clients without end do not keep an old one out", "[scheduler]") {
  // New clients come three times as fast as they are served.
  World world({.rows_max = 64, .sequences_max = 2}, 1000);
  one_second_steps(world);
  constexpr std::size_t kOwn = 6;
  for (std::size_t i = 0; i < kOwn; ++i) world.add(0, 1, 0, 60, 20);
  for (int i = 0; i < 600; ++i) world.add(0.5 + i, 100 + static_cast<std::uint64_t>(i), 0, 20, 6);
  world.run();
  // Whoever starts before the old client's next turn had come before its last one, or within the
  // few seconds that its prefill takes.
  for (std::size_t i = 1; i < kOwn; ++i) {
    const double last_turn = world.requests()[i - 1].started_at;
    const double turn = world.requests()[i].started_at;
    for (const WorldRequest& other : world.requests()) {
      if (other.state.client == 1 || other.started_at >= turn) continue;
      CHECK(other.arrived_at <= last_turn + 5);
    }
  }
}

TEST_CASE("scheduler: growing answers in a tiny pool end in order of standing", "[scheduler]") {
  // Six answers of 10 pages each in 14 pages, and newcomers all the time.
  World world({.rows_max = 256, .sequences_max = 16}, 14);
  one_second_steps(world);
  for (int i = 0; i < 6; ++i) world.add(0.01 * i, static_cast<std::uint64_t>(i), 0, 20, 140);
  for (int i = 0; i < 100; ++i) {
    world.add(10 + 20 * i, 10 + static_cast<std::uint64_t>(i), 0, 20, 30);
  }
  world.run();
  for (std::size_t i = 0; i < 6; ++i) {
    const WorldRequest& request = world.requests()[i];
    CAPTURE(i, request.preemptions);
    CHECK(request.generated == 140);
    CHECK(request.preemptions <= 6);
    if (i > 0) CHECK(world.requests()[i - 1].finished_at <= request.finished_at);
  }
  CHECK(world.requests()[0].preemptions == 0);
}

TEST_CASE("scheduler: an answer that outgrows the whole pool is told so", "[scheduler]") {
  World world({.rows_max = 256, .sequences_max = 16}, 4);
  const WorldRequest& endless = world.add(0, 1, 0, 20, 1000);
  const WorldRequest& other = world.add(0, 2, 0, 20, 5);
  world.run();
  CHECK(endless.out_of_room);
  // Tokens 20 to 64 are answer; of the last no key is held.
  CHECK(endless.generated == 64 - 20 + 1);
  CHECK(other.generated == 5);
}
