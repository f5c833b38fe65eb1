// Where a generation's time went: what counts as prefill, gaps and percentiles.
#include "libr1/engine/ledger.hpp"

#include <catch2/catch.hpp>
#include <thread>

using namespace r1;
using engine::Clock;
using engine::Ledger;

TEST_CASE("nothing happened: all zero but the total", "[engine][ledger]") {
  Ledger ledger(Clock::now(), 0);
  const Timings timings = ledger.timings();
  CHECK(timings.ttft_ms == 0);
  CHECK(timings.queued_ms == 0);
  CHECK(timings.prefill_tokens_per_s == 0);
  CHECK(timings.decode_tokens_per_s == 0);
  CHECK(timings.gap_max_ms == 0);
  CHECK(timings.total_ms >= 0);
}

TEST_CASE("prefill is what comes before the first token", "[engine][ledger]") {
  Ledger ledger(Clock::now(), 8);
  ledger.begin();
  ledger.computed(30, 60);
  ledger.computed(10, 40);
  ledger.chosen(0.5);
  ledger.took(true);
  const Timings one = ledger.timings();
  CHECK(one.gap_p50_ms == 0);
  CHECK(one.decode_ms == 0);
  CHECK(one.decode_tokens_per_s == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ledger.computed(1, 7);
  ledger.held(3);
  ledger.held(2);
  ledger.chosen(0.25);
  ledger.took(false);
  ledger.chosen(0.25);
  ledger.took(false);
  const Timings timings = ledger.timings();
  CHECK(timings.prefill_ms == 100);
  CHECK(timings.prefill_tokens == 40);
  CHECK(timings.prefill_tokens_per_s == 400);
  CHECK(timings.thought_tokens == 1);
  CHECK(timings.answer_tokens == 2);
  CHECK(timings.sampling_ms == 1);
  CHECK(timings.kv_pages == 3);
  // Gaps: more than 2 ms, then next to nothing.
  CHECK(timings.gap_max_ms >= 2);
  CHECK(timings.gap_p99_ms == timings.gap_max_ms);
  CHECK(timings.gap_p50_ms <= timings.gap_p95_ms);
  CHECK(timings.gap_p50_ms + timings.gap_max_ms == Approx(timings.decode_ms));
  CHECK(timings.ttft_ms >= timings.prompt_ms);
}
