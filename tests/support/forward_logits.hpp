// Runs a model's forward pass over one sequence, the way a test wants it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/api/table.hpp"
#include "libr1/runtime/forward.hpp"
#include "r1/model.hpp"

namespace r1::support {

/// How to run.
struct ForwardSettings {
  kernels::IsaTier isa = kernels::best_isa();
  int threads = 1;
  std::int64_t chunk = 512;  ///< tokens a step
  kernels::KvType kv_type = kernels::KvType::f16;
  runtime::Forward::Probe probe = {};
};

/// Logits after every token: [tokens][vocab].
std::vector<std::vector<float>> forward_logits(const Model& model, std::span<const TokenId> tokens,
                                               const ForwardSettings& settings = {});

/// The tiers this machine can run.
std::vector<kernels::IsaTier> available_tiers();

}  // namespace r1::support
