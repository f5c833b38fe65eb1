// What a step reads and multiplies, from a model's shape and the types of its matrices alone.
#pragma once

#include "kernels/api/args.hpp"
#include "libr1/model/config.hpp"
#include "libr1/model/weights.hpp"
#include "r1/measure.hpp"

namespace r1::engine {

/// The cost of steps of a model with these weights, with an f16 KV cache. Looks at shapes and
/// types, not at panels.
StepCost step_cost(const model::Config& config, const model::Weights& weights,
                   kernels::KvType kv_type = kernels::KvType::f16);

}  // namespace r1::engine
