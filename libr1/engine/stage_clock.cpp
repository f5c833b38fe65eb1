// A part of a step ends where the next matrix gets its input. Norms and encodings of a part's input
// are thus its own, but for the first row's.
#include "libr1/engine/stage_clock.hpp"

namespace r1::engine {

using runtime::Stage;

StageClock::StageClock(std::int64_t layers)
    : layers_(layers), seen_(static_cast<std::size_t>(layers + 1) * kStages) {}

void StageClock::begin(std::int64_t logit_row) {
  logit_row_ = logit_row;
  begin_ = Clock::now();
}

void StageClock::see(Stage stage, std::int64_t layer, std::int64_t row) {
  if (row != (layer == layers_ ? logit_row_ : 0)) return;
  seen_[static_cast<std::size_t>(layer) * kStages + static_cast<std::size_t>(stage)] = Clock::now();
}

StageClock::Clock::time_point StageClock::at(Stage stage, std::int64_t layer) const {
  return seen_[static_cast<std::size_t>(layer) * kStages + static_cast<std::size_t>(stage)];
}

StageSeconds StageClock::end() const {
  const auto seconds = [](Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  };
  StageSeconds parts;
  parts.embedding = seconds(begin_, at(Stage::hidden, 0));
  for (std::int64_t layer = 0; layer < layers_; ++layer) {
    parts.attention += seconds(at(Stage::hidden, layer), at(Stage::attended, layer));
    parts.attention_output += seconds(at(Stage::attended, layer), at(Stage::ffn, layer));
    parts.gate_up += seconds(at(Stage::ffn, layer), at(Stage::activated, layer));
    parts.down += seconds(at(Stage::activated, layer), at(Stage::hidden, layer + 1));
  }
  parts.output = seconds(at(Stage::hidden, layers_), Clock::now());
  return parts;
}

}  // namespace r1::engine
