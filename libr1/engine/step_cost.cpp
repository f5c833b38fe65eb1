// Counts bytes and multiply-adds of a step. Bytes are those of the file's types, whatever the
// packed layout takes.
#include "libr1/engine/step_cost.hpp"

#include <algorithm>

#include "kernels/api/pack.hpp"
#include "libr1/engine/settings.hpp"
#include "libr1/model/loaded_model.hpp"
#include "libr1/runtime/kv_layout.hpp"

namespace r1 {
namespace {

std::int64_t file_bytes(const model::Matrix& matrix) {
  return matrix.n * kernels::gguf_row_bytes(matrix.type, matrix.k);
}

/// Norms and biases are F32 in every file that converters write.
std::int64_t file_bytes(const std::vector<float>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(float));
}

void add_layer(const model::Layer& layer, StepCost& cost) {
  for (const auto* matrix :
       {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down}) {
    cost.weight_bytes += file_bytes(*matrix);
    const bool quantized =
        kernels::format_info(matrix->type).encoding == kernels::ActivationEncoding::q8;
    (quantized ? cost.quantized_macs : cost.float_macs) += matrix->n * matrix->k;
  }
  for (const auto* values :
       {&layer.attn_norm, &layer.q_bias, &layer.k_bias, &layer.v_bias, &layer.ffn_norm}) {
    cost.weight_bytes += file_bytes(*values);
  }
}

}  // namespace

double StepCost::decode_bytes(std::int64_t batch, double depth) const {
  double positions = depth + 1;
  if (window > 0) positions = std::min(positions, static_cast<double>(window));
  const double per_sequence = static_cast<double>(embedding_row_bytes) +
                              static_cast<double>(kv_bytes_per_position) * positions;
  return static_cast<double>(weight_bytes) + static_cast<double>(batch) * per_sequence;
}

double StepCost::attention_macs(std::int64_t tokens, std::int64_t depth) const {
  // Token i sees depth + i + 1 positions, of which a window leaves some.
  double positions = 0;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::int64_t seen = depth + i + 1;
    positions += static_cast<double>(window > 0 ? std::min(seen, window) : seen);
  }
  return positions * static_cast<double>(attention_macs_per_position);
}

StepCost engine::step_cost(const model::Config& config, const model::Weights& weights,
                           kernels::KvType kv_type) {
  StepCost cost;
  for (const model::Layer& layer : weights.layers) add_layer(layer, cost);
  cost.weight_bytes += file_bytes(weights.output_norm) + file_bytes(weights.output);
  cost.embedding_row_bytes = kernels::gguf_row_bytes(weights.embedding.type, weights.embedding.k);
  const auto layout = runtime::KvLayout::make(config, kv_type);
  cost.kv_bytes_per_position = layout.page_bytes() / kernels::kPageTokens;
  cost.window = config.sliding_window;
  // Scores and the weighted sum of values.
  cost.attention_macs_per_position = 2 * config.layers * config.heads * config.head_dim;
  return cost;
}

StepCost step_cost(const Model& model, KvType kv_type) {
  return engine::step_cost(model.impl().config, model.impl().weights, engine::kernel_type(kv_type));
}

}  // namespace r1
