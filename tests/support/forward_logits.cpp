// A forward pass without the engine around it.
#include "tests/support/forward_logits.hpp"

#include <algorithm>
#include <cmath>

#include "libr1/model/loaded_model.hpp"

namespace r1::support {

std::vector<std::vector<float>> forward_logits(const Model& model, std::span<const TokenId> tokens,
                                               const ForwardSettings& settings) {
  const model::LoadedModel& loaded = model.impl();
  base::ThreadTeam team(settings.threads);
  const auto count = static_cast<std::int64_t>(tokens.size());
  runtime::KvPool pool(runtime::KvLayout::make(loaded.config, settings.kv_type), count / 16 + 1);
  runtime::KvSequence kv(pool);
  runtime::Forward forward(loaded, *kernels::kernel_table(settings.isa), team, settings.kv_type,
                           settings.chunk, count);
  forward.set_probe(settings.probe);
  if (!kv.reserve(count)) return {};
  std::vector<std::vector<float>> rows;
  const auto vocab = static_cast<std::size_t>(loaded.config.vocab);
  for (std::int64_t begin = 0; begin < count; begin += settings.chunk) {
    const std::int64_t length = std::min(settings.chunk, count - begin);
    const runtime::SequenceStep step{
        tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length)), begin,
        &kv, runtime::LogitRows::all};
    std::span<const float> logits = forward.step(std::span(&step, 1));
    for (; !logits.empty(); logits = logits.subspan(vocab)) {
      rows.emplace_back(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(vocab));
    }
  }
  return rows;
}

ForwardTrace forward_trace(const Model& model, std::span<const TokenId> tokens,
                           ForwardSettings settings) {
  ForwardTrace trace;
  trace.layers.resize(static_cast<std::size_t>(model.info().layers));
  settings.threads = 1;
  settings.chunk = static_cast<std::int64_t>(tokens.size());
  settings.probe = [&](runtime::Stage stage, std::int64_t layer, std::int64_t,
                       std::span<const float> values) {
    const std::vector<double> row(values.begin(), values.end());
    if (stage == runtime::Stage::hidden && layer > 0) {
      trace.layers[static_cast<std::size_t>(layer - 1)].next_hidden.push_back(row);
    }
    if (stage == runtime::Stage::output) trace.output.push_back(row);
    if (layer == model.info().layers) return;
    ReferenceModel::Trace& here = trace.layers[static_cast<std::size_t>(layer)];
    switch (stage) {
      case runtime::Stage::hidden:
        here.hidden.push_back(row);
        break;
      case runtime::Stage::attention:
        here.attention.push_back(row);
        break;
      case runtime::Stage::attended:
        here.attended.push_back(row);
        break;
      case runtime::Stage::ffn:
        here.ffn.push_back(row);
        break;
      case runtime::Stage::activated:
        here.activated.push_back(row);
        break;
      case runtime::Stage::output:
        break;
    }
  };
  trace.logits = forward_logits(model, tokens, settings);
  return trace;
}

double relative_error(const ReferenceModel::Rows& expected, const ReferenceModel::Rows& got) {
  double worst = expected.size() == got.size() ? 0 : INFINITY;
  double range = 0;
  for (std::size_t t = 0; t < std::min(expected.size(), got.size()); ++t) {
    const auto [low, high] = std::minmax_element(expected[t].begin(), expected[t].end());
    range = std::max(range, *high - *low);
    for (std::size_t i = 0; i < expected[t].size(); ++i) {
      const double difference = std::abs(expected[t][i] - got[t][i]);
      worst = std::isfinite(difference) ? std::max(worst, difference) : INFINITY;
    }
  }
  return worst / range;
}

double relative_error(const ReferenceModel::Rows& expected,
                      const std::vector<std::vector<float>>& got) {
  ReferenceModel::Rows wide;
  for (const auto& row : got) wide.emplace_back(row.begin(), row.end());
  return relative_error(expected, wide);
}

double worst_stage_error(const ReferenceModel& oracle, const ForwardTrace& trace) {
  double worst = std::max(
      relative_error(oracle.normalize_output(trace.layers.back().next_hidden), trace.output),
      relative_error(oracle.output(trace.output), trace.logits));
  for (std::int64_t i = 0; i < oracle.layers(); ++i) {
    const ReferenceModel::Trace& got = trace.layers[static_cast<std::size_t>(i)];
    const ReferenceModel::Trace expected = oracle.trace(i, got);
    worst = std::max({worst, relative_error(expected.attention, got.attention),
                      relative_error(expected.attended, got.attended),
                      relative_error(expected.ffn, got.ffn),
                      relative_error(expected.activated, got.activated),
                      relative_error(expected.next_hidden, got.next_hidden)});
  }
  return worst;
}

std::vector<kernels::IsaTier> available_tiers() {
  std::vector<kernels::IsaTier> tiers;
  for (int i = 0; i < kernels::kIsaTierCount; ++i) {
    const auto tier = static_cast<kernels::IsaTier>(i);
    if (kernels::isa_available(tier)) tiers.push_back(tier);
  }
  return tiers;
}

}  // namespace r1::support
