// Limits come out as numbers for every tier of this CPU; what cannot be measured is refused. How
// high they are is nobody's business here.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "r1/error.hpp"
#include "r1/measure.hpp"
#include "r1/system.hpp"

using r1::LimitOptions;
using r1::Limits;

namespace {

LimitOptions quick() { return {.seconds = 1e-4, .rounds = 2, .buffer_bytes = 1 << 20}; }

bool is_rate(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

TEST_CASE("every tier of this CPU has limits", "[engine][machine_limits]") {
  for (const auto& tier : r1::isa_tiers()) {
    if (!tier.available) continue;
    INFO(tier.name);
    LimitOptions options = quick();
    options.isa = tier.name;
    options.threads = 2;
    options.threads_batch = 1;
    const Limits limits = r1::measure_limits(options);
    CHECK(limits.isa == tier.name);
    CHECK(limits.threads == 2);
    CHECK(limits.threads_batch == 1);
    CHECK(is_rate(limits.read_bytes_per_s));
    CHECK(is_rate(limits.read_bytes_per_s_huge));
    CHECK(is_rate(limits.byte_macs_per_s));
    CHECK(is_rate(limits.float_macs_per_s));
    CHECK((limits.bf16_macs_per_s == 0 || is_rate(limits.bf16_macs_per_s)));
    CHECK(is_rate(limits.barrier_seconds));
  }
}

TEST_CASE("options that cannot be measured are refused by name", "[engine][machine_limits]") {
  const auto with = [](auto change) {
    LimitOptions options = quick();
    change(options);
    return options;
  };
  const auto message = [](const LimitOptions& options) -> std::string {
    try {
      r1::measure_limits(options);
    } catch (const r1::Error& error) {
      CHECK(error.code() == r1::ErrorCode::invalid_argument);
      return error.what();
    }
    return "";
  };
  for (const double bad : {0.0, -1.0, 61.0, std::nan("")}) {
    CHECK_THAT(message(with([&](auto& o) { o.seconds = bad; })),
               Catch::StartsWith("seconds of a round: expected"));
  }
  for (const int bad : {0, 101}) {
    CHECK_THAT(message(with([&](auto& o) { o.rounds = bad; })),
               Catch::StartsWith("rounds of reading: expected 1 to 100"));
  }
  CHECK_THAT(message(with([](auto& o) { o.buffer_bytes = 1000; })),
             Catch::StartsWith("buffer for reading: expected at least 1048576"));
  CHECK_THAT(message(with([](auto& o) { o.threads = -1; })),
             Catch::StartsWith("threads: expected"));
  CHECK_THAT(message(with([](auto& o) { o.isa = "mmx"; })), Catch::StartsWith("isa: expected"));
}

TEST_CASE("of two measurements the better numbers stay", "[engine][machine_limits]") {
  Limits a;
  a.read_bytes_per_s = 10;
  a.read_bytes_per_s_huge = 30;
  a.byte_macs_per_s = 5;
  a.float_macs_per_s = 7;
  a.bf16_macs_per_s = 1;
  a.barrier_seconds = 2;
  Limits b = a;
  b.read_bytes_per_s = 20;
  b.read_bytes_per_s_huge = 25;
  b.byte_macs_per_s = 6;
  b.float_macs_per_s = 6;
  b.bf16_macs_per_s = 3;
  b.barrier_seconds = 1;
  a.merge(b);
  CHECK(a.read_bytes_per_s == 20);
  CHECK(a.read_bytes_per_s_huge == 30);
  CHECK(a.best_read() == 30);
  CHECK(a.byte_macs_per_s == 6);
  CHECK(a.float_macs_per_s == 7);
  CHECK(a.bf16_macs_per_s == 3);
  CHECK(a.barrier_seconds == 1);
}

TEST_CASE("progress goes up to one", "[engine][machine_limits]") {
  std::vector<double> seen;
  LimitOptions options = quick();
  options.on_progress = [&seen](double fraction) { seen.push_back(fraction); };
  r1::measure_limits(options);
  REQUIRE_FALSE(seen.empty());
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.front() > 0);
  CHECK(seen.back() == 1);
}
