// Describes a synthetic model once, as a gguf::Writer whose tensors are streams out of block pools;
// the reader takes the writer's header and the same streams.
#include "libr1/model/synthetic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "libr1/gguf/message.hpp"
#include "libr1/gguf/writer.hpp"
#include "libr1/model/synthetic_blocks.hpp"
#include "libr1/model/synthetic_recipe.hpp"
#include "r1/error.hpp"
#include "r1/model.hpp"

namespace r1 {
namespace model {
namespace {

using kernels::WeightType;

// The deviation that Qwen2's weights start training with (initializer_range in config.json).
constexpr ValueSpread kMatrixSpread = {0, 0.02F};
constexpr ValueSpread kNormSpread = {1, 0.1F};
constexpr ValueSpread kBiasSpread = {0, 0.1F};
constexpr float kRmsEps = 1e-6F;
// Written in pieces of this size.
constexpr std::int64_t kWriteBytes = 1 << 20;
// quantize.h of ggml: GGML_QNT_VERSION.
constexpr std::uint32_t kQuantizationVersion = 2;

// config.json of Qwen2.5-0.5B and DeepSeek-R1-Distill-Qwen-1.5B and -7B.
constexpr SyntheticShape kShapes[] = {
    {.name = "qwen2.5-0.5b",
     .layers = 24,
     .hidden = 896,
     .ffn = 4864,
     .heads = 14,
     .kv_heads = 2,
     .head_dim = 64,
     .vocab = 151936,
     .named_tokens = 151665,
     .tied = true,
     .context = 32768,
     .rope_base = 1e6F,
     .family = TokenFamily::qwen},
    {.name = "r1-1.5b",
     .layers = 28,
     .hidden = 1536,
     .ffn = 8960,
     .heads = 12,
     .kv_heads = 2,
     .head_dim = 128,
     .vocab = 151936,
     .named_tokens = 151665,
     .tied = false,
     .context = 131072,
     .rope_base = 1e4F,
     .family = TokenFamily::r1},
    {.name = "r1-7b",
     .layers = 28,
     .hidden = 3584,
     .ffn = 18944,
     .heads = 28,
     .kv_heads = 4,
     .head_dim = 128,
     .vocab = 152064,
     .named_tokens = 151665,
     .tied = false,
     .context = 131072,
     .rope_base = 1e4F,
     .family = TokenFamily::r1},
};

/// The pools of a model and which stream of which pool each tensor is. Streams are looked up by
/// name, from any thread.
class RandomWeights {
 public:
  explicit RandomWeights(std::uint64_t seed) : random_(seed) {}

  /// Draws a new tensor's stream; call from one thread, before any fill().
  void add(const std::string& name, WeightType type, const ValueSpread& spread) {
    auto pool = pools_.find({type, spread});
    if (pool == pools_.end()) {
      pool = pools_.try_emplace({type, spread}, type, spread, random_()).first;
    }
    const BlockStream stream = {random_(), random_() >> 32};
    streams_.emplace(name, std::pair(&pool->second, stream));
  }
  /// gguf::MakeBytes by the tensor's name.
  void fill(std::string_view name, std::int64_t begin, std::span<std::byte> out) const {
    const auto& [pool, stream] = streams_.find(name)->second;
    pool->copy(stream, begin, out);
  }

 private:
  std::mt19937_64 random_;
  std::map<std::pair<WeightType, ValueSpread>, BlockPool> pools_;
  std::map<std::string, std::pair<const BlockPool*, BlockStream>, std::less<>> streams_;
};

/// One model's header and weights.
class Description {
 public:
  Description(const SyntheticShape& shape, std::string_view type, std::uint64_t seed)
      : shape_(shape), recipe_(type), weights_(std::make_shared<RandomWeights>(seed)) {
    add_metadata(type);
    add_tensors();
  }

  const gguf::Writer& writer() const { return writer_; }
  std::shared_ptr<const RandomWeights> weights() const { return weights_; }

 private:
  void add_metadata(std::string_view type) {
    const auto number = [this](const char* key, std::int64_t value) {
      writer_.add(key, static_cast<std::uint32_t>(value));
    };
    writer_.add("general.architecture", std::string("qwen2"));
    writer_.add("general.type", std::string("model"));
    writer_.add("general.name", fmt::format("synthetic {} {}", shape_.name, type));
    writer_.add("general.file_type", recipe_.file_type());
    writer_.add("general.quantization_version", kQuantizationVersion);
    number("qwen2.block_count", shape_.layers);
    number("qwen2.context_length", shape_.context);
    number("qwen2.embedding_length", shape_.hidden);
    number("qwen2.feed_forward_length", shape_.ffn);
    number("qwen2.attention.head_count", shape_.heads);
    number("qwen2.attention.head_count_kv", shape_.kv_heads);
    writer_.add("qwen2.rope.freq_base", shape_.rope_base);
    writer_.add("qwen2.attention.layer_norm_rms_epsilon", kRmsEps);
    add_vocabulary(writer_, shape_.family, shape_.named_tokens, shape_.vocab);
  }

  void add_tensors() {
    matrix("token_embd.weight", shape_.tied ? MatrixRole::output : MatrixRole::embedding, 0,
           shape_.vocab, shape_.hidden);
    for (std::int64_t layer = 0; layer < shape_.layers; ++layer) add_layer(layer);
    vector("output_norm.weight", shape_.hidden, kNormSpread);
    if (!shape_.tied) matrix("output.weight", MatrixRole::output, 0, shape_.vocab, shape_.hidden);
  }

  void add_layer(std::int64_t layer) {
    const std::string prefix = fmt::format("blk.{}.", layer);
    const std::int64_t hidden = shape_.hidden;
    const std::int64_t q_width = shape_.heads * shape_.head_dim;
    const std::int64_t kv_width = shape_.kv_heads * shape_.head_dim;
    vector(prefix + "attn_norm.weight", hidden, kNormSpread);
    matrix(prefix + "attn_q.weight", MatrixRole::other, layer, q_width, hidden);
    vector(prefix + "attn_q.bias", q_width, kBiasSpread);
    matrix(prefix + "attn_k.weight", MatrixRole::other, layer, kv_width, hidden);
    vector(prefix + "attn_k.bias", kv_width, kBiasSpread);
    matrix(prefix + "attn_v.weight", MatrixRole::attn_v, layer, kv_width, hidden);
    vector(prefix + "attn_v.bias", kv_width, kBiasSpread);
    matrix(prefix + "attn_output.weight", MatrixRole::attn_output, layer, hidden, q_width);
    vector(prefix + "ffn_norm.weight", hidden, kNormSpread);
    matrix(prefix + "ffn_gate.weight", MatrixRole::other, layer, shape_.ffn, hidden);
    matrix(prefix + "ffn_up.weight", MatrixRole::other, layer, shape_.ffn, hidden);
    matrix(prefix + "ffn_down.weight", MatrixRole::ffn_down, layer, hidden, shape_.ffn);
  }

  void matrix(const std::string& name, MatrixRole role, std::int64_t layer, std::int64_t n,
              std::int64_t k) {
    const WeightType type = recipe_.type_of({role, layer, shape_.layers, k});
    const kernels::FormatInfo& format = kernels::format_info(type);
    tensor(name, {k, n}, type, kMatrixSpread, k / format.block_values * format.block_bytes * n);
  }

  void vector(const std::string& name, std::int64_t size, const ValueSpread& spread) {
    tensor(name, {size}, WeightType::f32, spread, size * static_cast<std::int64_t>(sizeof(float)));
  }

  void tensor(const std::string& name, std::vector<std::int64_t> shape, WeightType type,
              const ValueSpread& spread, std::int64_t bytes) {
    weights_->add(name, type, spread);
    writer_.add_tensor(
        name, std::move(shape), type,
        [weights = weights(), name, bytes](const gguf::Writer::Emit& emit) {
          std::vector<std::byte> piece;
          for (std::int64_t done = 0; done < bytes; done += kWriteBytes) {
            piece.resize(static_cast<std::size_t>(std::min(kWriteBytes, bytes - done)));
            weights->fill(name, done, piece);
            emit(piece);
          }
        });
  }

  const SyntheticShape& shape_;
  TypeRecipe recipe_;
  std::shared_ptr<RandomWeights> weights_;
  gguf::Writer writer_;
};

}  // namespace

SyntheticShape synthetic_shape(std::string_view name) {
  const auto* found = std::find_if(std::begin(kShapes), std::end(kShapes),
                                   [&](const SyntheticShape& shape) { return shape.name == name; });
  if (found == std::end(kShapes)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("synthetic model: shape: expected one of {}, got {}",
                            fmt::join(synthetic_shapes(), ", "), gguf::quote_name(name)));
  }
  return *found;
}

gguf::Reader open_synthetic(const SyntheticShape& shape, std::string_view type,
                            std::uint64_t seed) {
  const Description model(shape, type, seed);
  return gguf::Reader::from_generator(
      model.writer().header(),
      [weights = model.weights()](const gguf::TensorInfo& tensor, std::int64_t begin,
                                  std::span<std::byte> out) {
        weights->fill(tensor.name, begin, out);
      },
      fmt::format("synthetic {} {}", shape.name, type));
}

void write_synthetic(const std::string& path, const SyntheticShape& shape, std::string_view type,
                     std::uint64_t seed) {
  Description(shape, type, seed).writer().write(path);
}

}  // namespace model

std::vector<std::string> synthetic_shapes() {
  std::vector<std::string> names;
  for (const model::SyntheticShape& shape : model::kShapes) names.emplace_back(shape.name);
  return names;
}

std::vector<std::string> synthetic_types() { return model::TypeRecipe::names(); }

void write_synthetic(const std::string& path, const SyntheticOptions& options) {
  model::write_synthetic(path, model::synthetic_shape(options.shape), options.type, options.seed);
}

}  // namespace r1
