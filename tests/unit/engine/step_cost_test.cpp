// The cost of a step, against numbers computed by hand for the shape of DeepSeek-R1-Distill-Qwen
// 1.5B: hidden size 1,536, 28 layers, 12 heads and 2 key/value heads of 128, 8,960 in the
// feed-forward network, 151,936 tokens.
#include "libr1/engine/step_cost.hpp"

#include <catch2/catch.hpp>

using r1::StepCost;
using r1::kernels::WeightType;
using r1::model::Config;
using r1::model::Layer;
using r1::model::Matrix;
using r1::model::Weights;

namespace {

Matrix matrix(WeightType type, std::int64_t n, std::int64_t k) {
  Matrix result;
  result.type = type;
  result.n = n;
  result.k = k;
  return result;
}

Config config_1_5b() {
  Config config;
  config.layers = 28;
  config.hidden = 1536;
  config.ffn = 8960;
  config.heads = 12;
  config.kv_heads = 2;
  config.head_dim = 128;
  config.vocab = 151936;
  return config;
}

Weights weights_1_5b(WeightType layers, WeightType embedding, WeightType output) {
  Layer layer;
  layer.attn_norm.resize(1536);
  layer.q = matrix(layers, 1536, 1536);
  layer.k = matrix(layers, 256, 1536);
  layer.v = matrix(layers, 256, 1536);
  layer.o = matrix(layers, 1536, 1536);
  layer.q_bias.resize(1536);
  layer.k_bias.resize(256);
  layer.v_bias.resize(256);
  layer.ffn_norm.resize(1536);
  layer.gate = matrix(layers, 8960, 1536);
  layer.up = matrix(layers, 8960, 1536);
  layer.down = matrix(layers, 1536, 8960);
  Weights weights;
  weights.layers.assign(28, layer);
  weights.embedding = matrix(embedding, 151936, 1536);
  weights.output = matrix(output, 151936, 1536);
  weights.output_norm.resize(1536);
  return weights;
}

// 2 x 1536 x 1536 + 2 x 256 x 1536 + 3 x 8960 x 1536 = 46,792,704 a layer.
constexpr std::int64_t kLayersMacs = 1'310'195'712;
// 28 x (2 x 1536 norms + 1536 + 2 x 256 biases) x 4 bytes, and the output norm.
constexpr std::int64_t kVectorBytes = 573'440 + 6'144;

}  // namespace

TEST_CASE("the 1.5B shape in Q4_K with a Q6_K output", "[engine][step_cost]") {
  const StepCost cost = r1::engine::step_cost(
      config_1_5b(), weights_1_5b(WeightType::q4_k, WeightType::q4_k, WeightType::q6_k));
  CHECK(cost.quantized_macs == kLayersMacs);
  CHECK(cost.float_macs == 0);
  // Q4_K has 144 bytes for 256 weights, Q6_K 210: 736,985,088 and 191,439,360 bytes.
  CHECK(cost.weight_bytes == 736'985'088 + 191'439'360 + kVectorBytes);
  CHECK(cost.embedding_row_bytes == 864);
  // 28 layers x 2 x 2 heads x 128 x 2 bytes.
  CHECK(cost.kv_bytes_per_position == 28'672);
  // 28 layers x 12 heads x 128, once for the score and once for the value.
  CHECK(cost.attention_macs_per_position == 86'016);
}

TEST_CASE("F16 weights count as float multiply-adds", "[engine][step_cost]") {
  const StepCost cost = r1::engine::step_cost(
      config_1_5b(), weights_1_5b(WeightType::f16, WeightType::f16, WeightType::f16));
  CHECK(cost.quantized_macs == 0);
  CHECK(cost.float_macs == kLayersMacs);
  // 151,936 x 1,536 x 2 bytes of output.
  CHECK(cost.weight_bytes == 2 * kLayersMacs + 466'747'392 + kVectorBytes);
  CHECK(cost.embedding_row_bytes == 3072);
}

TEST_CASE("a decode step reads the weights once and each sequence's own keys and values",
          "[engine][step_cost]") {
  StepCost cost;
  cost.weight_bytes = 1000;
  cost.embedding_row_bytes = 10;
  cost.kv_bytes_per_position = 2;
  // The new token sees itself, too.
  CHECK(cost.decode_bytes(1, 0) == 1000 + 10 + 2);
  CHECK(cost.decode_bytes(1, 99) == 1000 + 10 + 200);
  CHECK(cost.decode_bytes(8, 99) == 1000 + 8 * (10 + 200));
  CHECK(cost.decode_bytes(1, 1.5) == 1000 + 10 + 5);
  cost.window = 50;
  CHECK(cost.decode_bytes(1, 99) == 1000 + 10 + 100);
  CHECK(cost.decode_bytes(1, 9) == 1000 + 10 + 20);
}

TEST_CASE("a prompt's token attends to all before it and to itself", "[engine][step_cost]") {
  StepCost cost;
  cost.attention_macs_per_position = 10;
  CHECK(cost.attention_macs(1, 0) == 10);
  CHECK(cost.attention_macs(4, 0) == 10 * (1 + 2 + 3 + 4));
  CHECK(cost.attention_macs(2, 3) == 10 * (4 + 5));
  cost.window = 4;
  CHECK(cost.attention_macs(2, 3) == 10 * (4 + 4));
}
