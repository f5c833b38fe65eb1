// StepPace against machines whose cost is known.
#include "libr1/engine/step_pace.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using r1::engine::StepPace;

namespace {

constexpr double kStep = 0.04, kRow = 0.002;

double seconds_of(std::int64_t prefill_rows) {
  return kStep + kRow * static_cast<double>(prefill_rows);
}

}  // namespace

TEST_CASE("step pace: something small before anything is known", "[engine][scheduler]") {
  const StepPace pace;
  CHECK(pace.prefill_row_s() == 0);
  CHECK(pace.prefill_rows_within(0.5) >= 1);
  CHECK(pace.prefill_rows_within(0.5) <= 64);
}

TEST_CASE("step pace: finds the cost of a row and keeps within the time", "[engine][scheduler]") {
  StepPace pace;
  pace.learn(1, 0, kStep);
  for (int i = 0; i < 100; ++i) pace.learn(1, 100 + i, seconds_of(100 + i));
  CHECK(pace.prefill_row_s() == Approx(kRow).epsilon(0.01));
  CHECK(pace.prefill_rows_within(0.5) == Approx(250).epsilon(0.02));
  CHECK(pace.prefill_rows_within(kRow / 2) == 1);
  CHECK(pace.prefill_rows_within(1e30) > 1'000'000);
}

TEST_CASE("step pace: noise makes it careful", "[engine][scheduler]") {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.2);
  StepPace pace;
  for (int i = 0; i < 50; ++i) pace.learn(4, 0, kStep);
  int over = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t rows = pace.prefill_rows_within(0.5);
    const double seconds = seconds_of(rows) * std::exp(noise(random));
    over += seconds > 0.5 + 2 * kStep ? 1 : 0;
    pace.learn(4, rows, seconds);
  }
  CHECK(over < 20);
}

TEST_CASE("step pace: one pause is forgotten, a slower machine is not", "[engine][scheduler]") {
  StepPace pace;
  pace.learn(1, 0, kStep);
  for (int i = 0; i < 100; ++i) pace.learn(1, 200, seconds_of(200));
  pace.learn(1, 200, 60);
  pace.learn(1, 0, 60);
  CHECK(pace.prefill_rows_within(0.5) >= 40);
  for (int i = 0; i < 50; ++i) {
    pace.learn(1, 0, kStep);
    pace.learn(1, pace.prefill_rows_within(0.5), seconds_of(pace.prefill_rows_within(0.5)));
  }
  CHECK(pace.prefill_rows_within(0.5) == Approx(250).epsilon(0.1));

  for (int i = 0; i < 30; ++i) {
    const std::int64_t rows = pace.prefill_rows_within(0.5);
    pace.learn(1, rows, kStep + 10 * kRow * static_cast<double>(rows));
  }
  CHECK(pace.prefill_rows_within(0.5) <= 25);
}

TEST_CASE("step pace: the last tokens of prompts do not make rows look dear or free",
          "[engine][scheduler]") {
  StepPace pace;
  pace.learn(1, 0, kStep);
  for (int i = 0; i < 400; ++i) {
    pace.learn(1, 200, seconds_of(200));
    pace.learn(1, 1, seconds_of(1) * (i % 2 == 0 ? 0.9 : 1.1));
  }
  CHECK(pace.prefill_row_s() == Approx(kRow).epsilon(0.15));
}
