// Runs a model's forward pass over one sequence, alone or beside others, the way a test wants it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/api/table.hpp"
#include "libr1/runtime/forward.hpp"
#include "r1/model.hpp"
#include "tests/support/reference_model.hpp"

namespace r1::support {

/// How to run.
struct ForwardSettings {
  kernels::IsaTier isa = kernels::best_isa();
  int threads = 1;
  std::int64_t chunk = 512;  ///< tokens a step
  std::int64_t prefix = 0;   ///< tokens that a step of their own computes before the chunks
  int others = 0;            ///< sequences of other tokens that are in every step as well
  kernels::KvType kv_type = kernels::KvType::f16;
  runtime::Forward::Probe probe = {};
};

/// Logits after every token: [tokens][vocab].
std::vector<std::vector<float>> forward_logits(const Model& model, std::span<const TokenId> tokens,
                                               const ForwardSettings& settings = {});

/// What flows through every layer of a forward pass over `tokens`, and its logits; runs on one
/// thread in one step.
struct ForwardTrace {
  std::vector<ReferenceModel::Trace> layers;
  ReferenceModel::Rows output;  ///< input of the output matrix
  std::vector<std::vector<float>> logits;
};
ForwardTrace forward_trace(const Model& model, std::span<const TokenId> tokens,
                           ForwardSettings settings = {});

/// The largest difference over all rows as a share of the largest spread within an expected row;
/// infinite when something is not finite.
double relative_error(const ReferenceModel::Rows& expected, const ReferenceModel::Rows& got);
double relative_error(const ReferenceModel::Rows& expected,
                      const std::vector<std::vector<float>>& got);
/// The worst relative_error of all stages of all layers and of the logits, each computed by
/// `oracle` from what the engine itself computed before it.
double worst_stage_error(const ReferenceModel& oracle, const ForwardTrace& trace);

/// The tiers this machine can run.
std::vector<kernels::IsaTier> available_tiers();

}  // namespace r1::support
