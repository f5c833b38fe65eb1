// A forward pass without the engine around it.
#include "tests/support/forward_logits.hpp"

#include <algorithm>

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
        tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(length)), begin, &kv,
        runtime::LogitRows::all};
    std::span<const float> logits = forward.step(std::span(&step, 1));
    for (; !logits.empty(); logits = logits.subspan(vocab)) {
      rows.emplace_back(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(vocab));
    }
  }
  return rows;
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
