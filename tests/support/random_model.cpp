// Random weights are made in the quantized domain: random code bytes under scales chosen so that
// the values have the wanted deviation. No quantizer is needed, and every code occurs.
#include "tests/support/random_model.hpp"

#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <string>

#include "kernels/api/pack.hpp"

namespace r1::support {
namespace {

using kernels::WeightType;

// IEEE binary16 below 65504 in magnitude, cut rather than rounded; enough for made-up numbers.
std::uint16_t to_half(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (exponent < -13) {
    return static_cast<std::uint16_t>(sign |
                                      static_cast<std::uint16_t>(std::fabs(value) * 0x1p24F));
  }
  const auto mantissa = static_cast<std::uint16_t>(fraction * 2048);  // the implicit bit is 1024
  return static_cast<std::uint16_t>(sign | ((exponent + 14) << 10 | (mantissa & 0x3FF)));
}

// The deviation of a value under scale 1, and the minimum that centres the values (in scales).
struct BlockScales {
  float deviation;
  float centre = 0;
};

BlockScales block_scales(WeightType type) {
  switch (type) {
    case WeightType::q4_0:
      return {4.6F};
    case WeightType::q4_1:
      return {4.6F, -7.5F};
    case WeightType::q5_0:
      return {9.2F};
    case WeightType::q5_1:
      return {9.2F, -15.5F};
    case WeightType::q8_0:
      return {74};
    case WeightType::q2_k:
      return {11, 1.5F};
    case WeightType::q3_k:
      return {42};
    case WeightType::q4_k:
      return {220, 7.5F};
    case WeightType::q5_k:
      return {450, 15.5F};
    case WeightType::q6_k:
      return {1330};
    case WeightType::iq4_nl:
      return {70};
    case WeightType::iq4_xs:
      return {1270};
    case WeightType::tq2_0:
      return {1.2F};
    default:
      return {1};
  }
}

void put_half(std::byte* at, float value) {
  const std::uint16_t half = to_half(value);
  std::memcpy(at, &half, sizeof half);
}

void fill_float(WeightType type, std::byte* at, float value) {
  if (type == WeightType::f32) {
    std::memcpy(at, &value, sizeof value);
  } else if (type == WeightType::f16) {
    put_half(at, value);
  } else {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(at, &upper, sizeof upper);
  }
}

class Builder {
 public:
  explicit Builder(const RandomModelSpec& spec) : spec_(spec), seed_(spec.seed * 1000) {}

  void matrix(const std::string& name, std::int64_t n, std::int64_t k) {
    add(name, {k, n}, spec_.type,
        random_rows(spec_.type, n, k, 1 / std::sqrt(static_cast<float>(k)), ++seed_));
  }

  std::vector<float> normal(std::int64_t size, float mean, float deviation) {
    std::mt19937_64 random(++seed_);
    std::normal_distribution<float> draw(mean, deviation);
    std::vector<float> values(static_cast<std::size_t>(size));
    for (float& value : values) value = draw(random);
    return values;
  }

  void vector(const std::string& name, const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    add(name, {static_cast<std::int64_t>(values.size())}, WeightType::f32, std::move(bytes));
  }

  gguf::Writer writer;

 private:
  void add(const std::string& name, std::vector<std::int64_t> shape, WeightType type,
           std::vector<std::byte> bytes) {
    storage_.push_back(std::move(bytes));
    writer.add_tensor(name, std::move(shape), type, storage_.back());
  }

  const RandomModelSpec& spec_;
  std::uint64_t seed_;
  std::deque<std::vector<std::byte>> storage_;  ///< the writer keeps views
};

void add_metadata(gguf::Writer& writer, const RandomModelSpec& spec) {
  const auto number = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  writer.add("general.architecture", std::string("qwen2"));
  writer.add("general.name", std::string("random"));
  writer.add("qwen2.block_count", number(spec.layers));
  writer.add("qwen2.context_length", number(spec.context));
  writer.add("qwen2.embedding_length", number(spec.hidden));
  writer.add("qwen2.feed_forward_length", number(spec.ffn));
  writer.add("qwen2.attention.head_count", number(spec.heads));
  writer.add("qwen2.attention.head_count_kv", number(spec.kv_heads));
  if (spec.head_dim * spec.heads != spec.hidden) {
    writer.add("qwen2.attention.key_length", number(spec.head_dim));
    writer.add("qwen2.attention.value_length", number(spec.head_dim));
  }
  writer.add("qwen2.rope.freq_base", static_cast<float>(spec.rope_base));
  writer.add("qwen2.attention.layer_norm_rms_epsilon", 1e-6F);
  if (spec.sliding_window > 0)
    writer.add("qwen2.attention.sliding_window", number(spec.sliding_window));
  if (spec.yarn_factor > 0) {
    writer.add("qwen2.rope.scaling.type", std::string("yarn"));
    writer.add("qwen2.rope.scaling.factor", static_cast<float>(spec.yarn_factor));
    writer.add("qwen2.rope.scaling.original_context_length",
               number(static_cast<std::int64_t>(spec.yarn_original_context)));
  }
  Vocabulary(spec.family).write(writer, spec.vocab);
}

void add_layer(Builder& build, const RandomModelSpec& spec, std::int64_t index) {
  const std::string prefix = "blk." + std::to_string(index) + ".";
  const std::int64_t q_width = spec.heads * spec.head_dim;
  const std::int64_t kv_width = spec.kv_heads * spec.head_dim;
  const std::int64_t slowest = spec.head_dim / 2 - 1;
  std::vector<float> q_bias = build.normal(q_width, 0, spec.bias);
  std::vector<float> k_bias = build.normal(kv_width, 0, spec.bias);
  if (spec.hot_bias != 0) {
    for (std::int64_t h = 0; h < spec.heads; ++h) {
      q_bias[static_cast<std::size_t>(h * spec.head_dim + slowest)] = spec.hot_bias;
    }
    for (std::int64_t h = 0; h < spec.kv_heads; ++h) {
      k_bias[static_cast<std::size_t>(h * spec.head_dim + slowest)] = spec.hot_bias;
    }
  }
  if (spec.outlier_key_bias != 0) {
    for (std::int64_t h = 0; h < spec.kv_heads; ++h) {
      k_bias[static_cast<std::size_t>(h * spec.head_dim + 5)] = spec.outlier_key_bias;
      k_bias[static_cast<std::size_t>(h * spec.head_dim + slowest)] = -spec.outlier_key_bias;
    }
  }
  build.vector(prefix + "attn_norm.weight", build.normal(spec.hidden, 1, 0.1F));
  build.matrix(prefix + "attn_q.weight", q_width, spec.hidden);
  build.vector(prefix + "attn_q.bias", q_bias);
  build.matrix(prefix + "attn_k.weight", kv_width, spec.hidden);
  build.vector(prefix + "attn_k.bias", k_bias);
  build.matrix(prefix + "attn_v.weight", kv_width, spec.hidden);
  build.vector(prefix + "attn_v.bias", build.normal(kv_width, 0, spec.bias));
  build.matrix(prefix + "attn_output.weight", spec.hidden, q_width);
  build.vector(prefix + "ffn_norm.weight",
               build.normal(spec.hidden, spec.ffn_scale, 0.1F * spec.ffn_scale));
  build.matrix(prefix + "ffn_gate.weight", spec.ffn, spec.hidden);
  build.matrix(prefix + "ffn_up.weight", spec.ffn, spec.hidden);
  build.matrix(prefix + "ffn_down.weight", spec.hidden, spec.ffn);
}

}  // namespace

std::vector<std::byte> random_rows(WeightType type, std::int64_t rows, std::int64_t k,
                                   float deviation, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const kernels::FormatInfo& info = kernels::format_info(type);
  const std::int64_t blocks = rows * (k / info.block_values);
  std::vector<std::byte> bytes(static_cast<std::size_t>(blocks * info.block_bytes));
  if (info.block_values == 1) {
    std::normal_distribution<float> draw(0, deviation);
    for (std::int64_t i = 0; i < blocks; ++i) {
      fill_float(type, bytes.data() + i * info.block_bytes, draw(random));
    }
    return bytes;
  }
  const BlockScales scales = block_scales(type);
  std::uniform_real_distribution<float> vary(0.7F, 1.3F);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (std::int64_t i = 0; i < blocks; ++i) {
    std::byte* block = bytes.data() + i * info.block_bytes;
    const float scale = deviation / scales.deviation * vary(random);
    put_half(block + info.scale_at, scale);
    if (info.minimum_at >= 0) put_half(block + info.minimum_at, scale * scales.centre);
  }
  return bytes;
}

std::vector<std::byte> random_model(const RandomModelSpec& spec) {
  Builder build(spec);
  add_metadata(build.writer, spec);
  build.matrix("token_embd.weight", spec.vocab, spec.hidden);
  for (std::int64_t i = 0; i < spec.layers; ++i) add_layer(build, spec, i);
  std::vector<float> norm = build.normal(spec.hidden, 1, 0.1F);
  if (spec.nan_weight) norm[7] = std::numeric_limits<float>::quiet_NaN();
  build.vector("output_norm.weight", norm);
  if (!spec.tied) build.matrix("output.weight", spec.vocab, spec.hidden);
  return build.writer.image();
}

std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocab,
                                        std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(vocab)));
  }
  return tokens;
}

}  // namespace r1::support
