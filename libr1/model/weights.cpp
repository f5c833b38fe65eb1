// Binds GGUF tensors to the network's parts (cases L5, R4). The plan is made and checked in full
// before the first byte is packed.
#include "libr1/model/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/api/pack.hpp"
#include "libr1/base/memory_info.hpp"
#include "libr1/gguf/message.hpp"
#include "libr1/model/packing.hpp"
#include "r1/error.hpp"

namespace r1::model {
namespace {

class Binder {
 public:
  Binder(const gguf::Reader& file, const Warn& warn) : file_(file), warn_(warn) {}

  const gguf::TensorInfo& need(const std::string& name) {
    const gguf::TensorInfo* tensor = file_.find(name);
    if (tensor == nullptr) {
      throw Error(
          ErrorCode::bad_file,
          fmt::format("{}: {}: expected a tensor of that name, got none", file_.name(), name));
    }
    used_.insert(name);
    return *tensor;
  }

  Matrix matrix(const std::string& name, std::int64_t k, std::int64_t n) {
    const gguf::TensorInfo& tensor = need(name);
    require_shape(tensor, {k, n});
    Matrix matrix;
    matrix.type = tensor.type;
    matrix.n = n;
    matrix.k = k;
    return matrix;
  }

  std::vector<float> vector(const std::string& name, std::int64_t size) {
    const gguf::TensorInfo& tensor = need(name);
    require_shape(tensor, {size});
    std::vector<std::byte> raw(static_cast<std::size_t>(tensor.bytes));
    file_.read(tensor, 0, raw);
    std::vector<float> values(static_cast<std::size_t>(size));
    kernels::decode_gguf_row(tensor.type, raw.data(), size, values.data());
    return values;
  }

  void warn_unused() const {
    std::vector<std::string> unused;
    for (const auto& tensor : file_.tensors()) {
      if (!used_.contains(tensor.name)) unused.push_back(gguf::quote_name(tensor.name));
    }
    if (unused.empty()) return;
    const std::size_t count = unused.size();
    if (count > 5) unused.resize(5);
    warn_(fmt::format("{} tensor{} in the file not used by a qwen2 model: {}{}", count,
                      count == 1 ? " is" : "s are", fmt::join(unused, ", "),
                      count > 5 ? ", ..." : ""));
  }

 private:
  void require_shape(const gguf::TensorInfo& tensor, const std::vector<std::int64_t>& shape) const {
    // Trailing dimensions of 1 say nothing.
    std::vector<std::int64_t> got = tensor.shape;
    while (got.size() > shape.size() && got.back() == 1) got.pop_back();
    if (got != shape) {
      throw Error(ErrorCode::bad_file,
                  fmt::format("{}: {}: expected [{}], got [{}]", file_.name(), tensor.name,
                              fmt::join(shape, ", "), fmt::join(tensor.shape, ", ")));
    }
  }

  const gguf::Reader& file_;
  const Warn& warn_;
  std::set<std::string> used_;
};

std::string heaviest_type(const gguf::Reader& file) {
  std::map<kernels::WeightType, std::int64_t> bytes;
  for (const auto& tensor : file.tensors()) bytes[tensor.type] += tensor.bytes;
  const auto heaviest = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return heaviest == bytes.end() ? "" : kernels::format_info(heaviest->first).name;
}

Layer bind_layer(Binder& bind, const Config& config, std::int64_t index) {
  const std::string prefix = fmt::format("blk.{}.", index);
  const std::int64_t q_width = config.heads * config.head_dim;
  const std::int64_t kv_width = config.kv_heads * config.head_dim;
  Layer layer;
  layer.attn_norm = bind.vector(prefix + "attn_norm.weight", config.hidden);
  layer.q = bind.matrix(prefix + "attn_q.weight", config.hidden, q_width);
  layer.k = bind.matrix(prefix + "attn_k.weight", config.hidden, kv_width);
  layer.v = bind.matrix(prefix + "attn_v.weight", config.hidden, kv_width);
  layer.q_bias = bind.vector(prefix + "attn_q.bias", q_width);
  layer.k_bias = bind.vector(prefix + "attn_k.bias", kv_width);
  layer.v_bias = bind.vector(prefix + "attn_v.bias", kv_width);
  layer.o = bind.matrix(prefix + "attn_output.weight", q_width, config.hidden);
  layer.ffn_norm = bind.vector(prefix + "ffn_norm.weight", config.hidden);
  layer.gate = bind.matrix(prefix + "ffn_gate.weight", config.hidden, config.ffn);
  layer.up = bind.matrix(prefix + "ffn_up.weight", config.hidden, config.ffn);
  layer.down = bind.matrix(prefix + "ffn_down.weight", config.ffn, config.hidden);
  return layer;
}

/// A matrix and how it is packed.
struct Binding {
  Matrix* matrix;
  PackJob job;
};

/// All matrices of `weights`, one after the other in the buffer. The references must not move.
std::vector<Binding> bindings(const gguf::Reader& file, Weights& weights) {
  std::vector<Binding> all;
  std::int64_t offset = 0;
  const auto add = [&](Matrix& matrix, const std::string& name) {
    all.push_back({&matrix, {file.find(name), matrix.n, matrix.k, offset}});
    offset += packed_bytes(all.back().job);
  };
  add(weights.embedding, "token_embd.weight");
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    Layer& layer = weights.layers[i];
    const std::string prefix = fmt::format("blk.{}.", i);
    add(layer.q, prefix + "attn_q.weight");
    add(layer.k, prefix + "attn_k.weight");
    add(layer.v, prefix + "attn_v.weight");
    add(layer.o, prefix + "attn_output.weight");
    add(layer.gate, prefix + "ffn_gate.weight");
    add(layer.up, prefix + "ffn_up.weight");
    add(layer.down, prefix + "ffn_down.weight");
  }
  if (!weights.tied) add(weights.output, "output.weight");
  return all;
}

}  // namespace

Weights bind_weights(const gguf::Reader& file, Config& config, const Warn& warn) {
  Weights weights;
  Binder bind(file, warn);
  const gguf::TensorInfo& embedding = bind.need("token_embd.weight");
  config.vocab = embedding.shape.size() < 2 ? 1 : embedding.shape[1];
  weights.embedding = bind.matrix("token_embd.weight", config.hidden, config.vocab);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    weights.layers.push_back(bind_layer(bind, config, i));
  }
  weights.output_norm = bind.vector("output_norm.weight", config.hidden);
  weights.tied = file.find("output.weight") == nullptr;
  if (!weights.tied) weights.output = bind.matrix("output.weight", config.hidden, config.vocab);
  bind.warn_unused();

  for (const auto& tensor : file.tensors()) {
    weights.parameters += tensor.values();
    weights.tensor_bytes += tensor.bytes;
  }
  weights.main_type = heaviest_type(file);
  return weights;
}

void pack_weights(const gguf::Reader& file, Weights& weights, base::ThreadTeam& team,
                  const PackOptions& options) {
  const std::vector<Binding> all = bindings(file, weights);
  std::vector<PackJob> jobs;
  for (const Binding& binding : all) jobs.push_back(binding.job);
  const std::int64_t bytes = jobs.back().offset + packed_bytes(jobs.back());
  base::require_memory("packed weights", bytes, base::memory_budget());
  weights.buffer =
      base::AlignedBuffer(static_cast<std::size_t>(bytes), "packed weights", options.pages);
  std::byte* packed = weights.buffer.data();
  pack_matrices(file, jobs, packed, team, options.alongside, options.progress);
  for (const Binding& binding : all) binding.matrix->panels = packed + binding.job.offset;
  if (weights.tied) weights.output = weights.embedding;
}

}  // namespace r1::model
