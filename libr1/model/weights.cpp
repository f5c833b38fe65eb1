// Binds GGUF tensors to the network's parts and packs them (cases L5, R4). The plan is made and
// checked in full before the first byte is packed.
#include "libr1/model/weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/api/args.hpp"
#include "kernels/api/pack.hpp"
#include "libr1/gguf/message.hpp"
#include "r1/error.hpp"

namespace r1::model {
namespace {

// Small enough that the slices of all threads are nothing beside the weights, large enough to read
// at full speed.
constexpr std::int64_t kSliceBytes = 4 << 20;

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

struct PackJob {
  Matrix* matrix;
  const gguf::TensorInfo* tensor;
  std::int64_t offset;  ///< in the buffer
};

std::int64_t panel_count(const Matrix& matrix) {
  return (matrix.n + kernels::kPanelRows - 1) / kernels::kPanelRows;
}

void pack_slice(const gguf::Reader& file, const PackJob& job, base::Range panels,
                std::byte* packed) {
  const Matrix& matrix = *job.matrix;
  const std::int64_t row_bytes = kernels::gguf_row_bytes(matrix.type, matrix.k);
  const std::int64_t panel_bytes = kernels::panel_bytes(matrix.type, matrix.k);
  const std::int64_t step =
      std::max<std::int64_t>(1, kSliceBytes / (row_bytes * kernels::kPanelRows));
  std::vector<std::byte> raw;
  for (std::int64_t begin = panels.begin; begin < panels.end; begin += step) {
    const std::int64_t end = std::min(begin + step, panels.end);
    const std::int64_t first_row = begin * kernels::kPanelRows;
    const std::int64_t rows = std::min(end * kernels::kPanelRows, matrix.n) - first_row;
    raw.resize(static_cast<std::size_t>(rows * row_bytes));
    file.read(*job.tensor, first_row * row_bytes, raw);
    for (std::int64_t panel = begin; panel < end; ++panel) {
      const std::int64_t row = panel * kernels::kPanelRows - first_row;
      kernels::pack_panel(matrix.type, raw.data() + row * row_bytes,
                          std::min(kernels::kPanelRows, rows - row), matrix.k,
                          packed + job.offset + panel * panel_bytes);
    }
    file.release(*job.tensor, first_row * row_bytes, rows * row_bytes);
  }
}

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

std::vector<PackJob> pack_jobs(const gguf::Reader& file, Weights& weights) {
  std::vector<PackJob> jobs;
  std::int64_t offset = 0;
  const auto add = [&](Matrix& matrix, const std::string& name) {
    jobs.push_back({&matrix, file.find(name), offset});
    offset += panel_count(matrix) * kernels::panel_bytes(matrix.type, matrix.k);
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
  weights.buffer = base::AlignedBuffer(static_cast<std::size_t>(offset), "packed weights");
  return jobs;
}

}  // namespace

Weights load_weights(const gguf::Reader& file, Config& config, base::ThreadTeam& team,
                     const Warn& warn, const std::function<void(double)>& progress) {
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
  const std::vector<PackJob> jobs = pack_jobs(file, weights);
  std::byte* packed = weights.buffer.data();
  team.run([&](base::Worker& worker) {
    for (const PackJob& job : jobs) {
      pack_slice(file, job, worker.slice(panel_count(*job.matrix)), packed);
      if (worker.index() == 0 && progress) {
        progress(static_cast<double>(&job - jobs.data() + 1) / static_cast<double>(jobs.size()));
      }
    }
  });
  for (const PackJob& job : jobs) job.matrix->panels = packed + job.offset;
  if (weights.tied) weights.output = weights.embedding;
  return weights;
}

}  // namespace r1::model
