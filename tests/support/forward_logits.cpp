// A forward pass without the engine around it. Other sequences lie around the main one, so that its
// rows and logits do not come first.
#include "tests/support/forward_logits.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "libr1/model/loaded_model.hpp"
#include "tests/support/random_model.hpp"

namespace r1::support {

namespace {

/// Tokens of the main sequence in each step.
std::vector<std::int64_t> step_lengths(std::int64_t count, const ForwardSettings& settings) {
  std::vector<std::int64_t> lengths;
  if (settings.prefix > 0) lengths.push_back(settings.prefix);
  for (std::int64_t left = count - settings.prefix; left > 0; left -= settings.chunk) {
    lengths.push_back(std::min(left, settings.chunk));
  }
  return lengths;
}

/// A sequence that takes one or two tokens in every step, and with some the logits of the last.
struct Other {
  static constexpr std::int64_t kTokensMax = 2;  ///< a step

  Other(runtime::KvPool& pool, int index, std::int64_t steps, std::int64_t vocab)
      : length(1 + index % kTokensMax),
        logits(index % 3 == 0 ? runtime::LogitRows::none : runtime::LogitRows::last),
        tokens(random_tokens(steps * length, vocab, static_cast<std::uint64_t>(index))),
        kv(pool) {}

  runtime::SequenceStep step(std::size_t index) {
    const std::size_t begin = index * static_cast<std::size_t>(length);
    return {std::span(tokens).subspan(begin, static_cast<std::size_t>(length)),
            static_cast<std::int64_t>(begin), &kv, logits};
  }

  std::int64_t length;
  runtime::LogitRows logits;
  std::vector<TokenId> tokens;
  runtime::KvSequence kv;
};

}  // namespace

std::vector<std::vector<float>> forward_logits(const Model& model, std::span<const TokenId> tokens,
                                               const ForwardSettings& settings) {
  const model::LoadedModel& loaded = model.impl();
  base::ThreadTeam team(settings.threads);
  const auto count = static_cast<std::int64_t>(tokens.size());
  const std::vector<std::int64_t> lengths = step_lengths(count, settings);
  const auto steps = static_cast<std::int64_t>(lengths.size());
  const std::int64_t positions_max = std::max(count, Other::kTokensMax * steps);
  runtime::KvPool pool(runtime::KvLayout::make(loaded.config, settings.kv_type),
                       (1 + settings.others) * (positions_max / 16 + 1));
  runtime::Forward forward(
      loaded, *kernels::kernel_table(settings.isa), team, settings.kv_type,
      *std::max_element(lengths.begin(), lengths.end()) + Other::kTokensMax * settings.others,
      positions_max);
  forward.set_probe(settings.probe);
  runtime::KvSequence kv(pool);
  if (!kv.reserve(count)) return {};
  std::deque<Other> others;
  for (int i = 0; i < settings.others; ++i) {
    others.emplace_back(pool, i, steps, loaded.config.vocab);
    if (!others.back().kv.reserve(Other::kTokensMax * steps)) return {};
  }
  std::vector<std::vector<float>> rows;
  const auto vocab = static_cast<std::size_t>(loaded.config.vocab);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(rows.size());
    std::vector<runtime::SequenceStep> step;
    std::size_t rows_before = 0;
    for (Other& other : others) step.push_back(other.step(i));
    const auto middle = step.begin() + settings.others / 2;
    for (auto at = step.begin(); at != middle; ++at) {
      rows_before += at->logits == runtime::LogitRows::last ? 1 : 0;
    }
    step.insert(middle, {tokens.subspan(rows.size(), static_cast<std::size_t>(lengths[i])), begin,
                         &kv, runtime::LogitRows::all});
    const float* row = forward.step(step).data() + rows_before * vocab;
    for (std::int64_t t = 0; t < lengths[i]; ++t, row += vocab) rows.emplace_back(row, row + vocab);
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
