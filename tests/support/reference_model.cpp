// The double-precision forward pass: Qwen2 as in Hugging Face's modeling_qwen2.py, one token after
// the other.
#include "tests/support/reference_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/api/pack.hpp"
#include "kernels/api/table.hpp"
#include "libr1/base/aligned_buffer.hpp"

namespace r1::support {
namespace {

double silu(double x) { return x / (1 + std::exp(-x)); }

// What the int8 codes that the engine makes of x stand for. The encoder has tests of its own; here
// it only makes sure that both sides multiply the same numbers.
std::vector<double> through_codes(const std::vector<double>& x) {
  const std::vector<float> narrow(x.begin(), x.end());
  const auto k = static_cast<std::int64_t>(x.size());
  const auto encoding = kernels::ActivationEncoding::q8;
  base::AlignedBuffer row(static_cast<std::size_t>(kernels::encoded_row_bytes(encoding, k)),
                          "encoded row");
  kernels::kernel_table(kernels::IsaTier::baseline)
      ->encode[static_cast<int>(encoding)](narrow.data(), k, row.data());
  const std::int64_t scales_at = (k + 63) / 64 * 64;
  std::vector<double> y(x.size());
  for (std::int64_t i = 0; i < k; ++i) {
    float scale = 0;
    std::memcpy(&scale, row.data() + scales_at + i / 32 * 4, sizeof scale);
    y[static_cast<std::size_t>(i)] =
        static_cast<double>(static_cast<std::int8_t>(row.data()[i])) * scale;
  }
  return y;
}

}  // namespace

std::vector<double> ReferenceModel::decode(const gguf::Reader& file, const std::string& name) {
  const gguf::TensorInfo* tensor = file.find(name);
  if (tensor == nullptr) return {};
  std::vector<std::byte> raw(static_cast<std::size_t>(tensor->bytes));
  file.read(*tensor, 0, raw);
  const std::int64_t k = tensor->shape[0];
  const std::int64_t rows = tensor->values() / k;
  const std::int64_t row_bytes = kernels::gguf_row_bytes(tensor->type, k);
  std::vector<float> row(static_cast<std::size_t>(k));
  std::vector<double> values;
  for (std::int64_t r = 0; r < rows; ++r) {
    kernels::decode_gguf_row(tensor->type, raw.data() + r * row_bytes, k, row.data());
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

ReferenceModel::Matrix ReferenceModel::matrix(const gguf::Reader& file,
                                              const std::string& name) const {
  const std::vector<double> values = decode(file, name);
  Matrix m;
  m.k = file.find(name)->shape[0];
  m.n = file.find(name)->shape[1];
  m.int8_inputs = activation_codes_ && kernels::format_info(file.find(name)->type).block_values > 1;
  m.fine_inputs = name.starts_with("blk.0.") || name.starts_with("blk.1.attn_");
  m.transposed.resize(values.size());
  for (std::int64_t row = 0; row < m.n; ++row) {
    for (std::int64_t col = 0; col < m.k; ++col) {
      m.transposed[static_cast<std::size_t>(col * m.n + row)] =
          values[static_cast<std::size_t>(row * m.k + col)];
    }
  }
  return m;
}

ReferenceModel::ReferenceModel(const gguf::Reader& file, bool activation_codes)
    : activation_codes_(activation_codes) {
  hidden_ = *file.get_int("qwen2.embedding_length");
  heads_ = *file.get_int("qwen2.attention.head_count");
  kv_heads_ = *file.get_int("qwen2.attention.head_count_kv");
  head_dim_ = file.get_int("qwen2.attention.key_length").value_or(hidden_ / heads_);
  window_ = file.get_int("qwen2.attention.sliding_window").value_or(0);
  eps_ = *file.get_float("qwen2.attention.layer_norm_rms_epsilon");
  const double base = file.get_float("qwen2.rope.freq_base").value_or(1e6);
  for (std::int64_t i = 0; i < head_dim_ / 2; ++i) {
    inverse_frequencies_.push_back(
        1 / std::pow(base, 2 * static_cast<double>(i) / static_cast<double>(head_dim_)));
  }
  if (file.get_string("qwen2.rope.scaling.type").value_or("") == "yarn") {
    // arXiv:2309.00071, as transformers' _compute_yarn_parameters has it.
    const double factor = *file.get_float("qwen2.rope.scaling.factor");
    const double context = *file.get_float("qwen2.rope.scaling.original_context_length");
    const auto dim = static_cast<double>(head_dim_);
    const auto find_dim = [&](double rotations) {
      return dim * std::log(context / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
    };
    const double low = std::max(std::floor(find_dim(32)), 0.0);
    const double high = std::min(std::ceil(find_dim(1)), dim - 1);
    for (std::size_t i = 0; i < inverse_frequencies_.size(); ++i) {
      const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
      const double extrapolated = inverse_frequencies_[i];
      inverse_frequencies_[i] = extrapolated / factor * ramp + extrapolated * (1 - ramp);
    }
    rope_magnitude_ = 0.1 * std::log(factor) + 1;
  }
  embedding_ = decode(file, "token_embd.weight");
  vocab_ = static_cast<std::int64_t>(embedding_.size()) / hidden_;
  output_norm_ = decode(file, "output_norm.weight");
  output_ = matrix(file, file.find("output.weight") ? "output.weight" : "token_embd.weight");
  const std::int64_t count = *file.get_int("qwen2.block_count");
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string prefix = "blk." + std::to_string(i) + ".";
    Layer layer;
    layer.attn_norm = decode(file, prefix + "attn_norm.weight");
    layer.ffn_norm = decode(file, prefix + "ffn_norm.weight");
    layer.q_bias = decode(file, prefix + "attn_q.bias");
    layer.k_bias = decode(file, prefix + "attn_k.bias");
    layer.v_bias = decode(file, prefix + "attn_v.bias");
    layer.q = matrix(file, prefix + "attn_q.weight");
    layer.k = matrix(file, prefix + "attn_k.weight");
    layer.v = matrix(file, prefix + "attn_v.weight");
    layer.o = matrix(file, prefix + "attn_output.weight");
    layer.gate = matrix(file, prefix + "ffn_gate.weight");
    layer.up = matrix(file, prefix + "ffn_up.weight");
    layer.down = matrix(file, prefix + "ffn_down.weight");
    layers_.push_back(std::move(layer));
  }
}

std::vector<double> ReferenceModel::multiply(const Matrix& w, const std::vector<double>& input) {
  std::vector<double> x = w.int8_inputs ? through_codes(input) : input;
  if (w.int8_inputs && w.fine_inputs) {
    std::vector<double> remainder(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) remainder[i] = input[i] - x[i];
    remainder = through_codes(remainder);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += remainder[i];
  }
  std::vector<double> y(static_cast<std::size_t>(w.n), 0.0);
  for (std::int64_t col = 0; col < w.k; ++col) {
    const double value = x[static_cast<std::size_t>(col)];
    const double* column = w.transposed.data() + col * w.n;
    for (std::int64_t row = 0; row < w.n; ++row)
      y[static_cast<std::size_t>(row)] += value * column[row];
  }
  return y;
}

std::vector<double> ReferenceModel::normalize(const std::vector<double>& x,
                                              const std::vector<double>& weight) const {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + eps_);
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
  return y;
}

void ReferenceModel::rotate(double* head, std::int64_t position) const {
  const std::int64_t half = head_dim_ / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const double angle =
        static_cast<double>(position) * inverse_frequencies_[static_cast<std::size_t>(i)];
    const double c = std::cos(angle) * rope_magnitude_;
    const double s = std::sin(angle) * rope_magnitude_;
    const double first = head[i];
    const double second = head[i + half];
    head[i] = first * c - second * s;
    head[i + half] = second * c + first * s;
  }
}

ReferenceModel::Rows ReferenceModel::attention(const Layer& layer, const Rows& normed,
                                               std::int64_t first_position) const {
  const auto count = static_cast<std::int64_t>(normed.size());
  Rows q, k, v, out;
  const auto project = [&](const Matrix& w, const std::vector<double>& bias, std::int64_t row) {
    std::vector<double> y = multiply(w, normed[static_cast<std::size_t>(row)]);
    for (std::size_t i = 0; i < bias.size(); ++i) y[i] += bias[i];
    return y;
  };
  for (std::int64_t t = 0; t < count; ++t) {
    q.push_back(project(layer.q, layer.q_bias, t));
    k.push_back(project(layer.k, layer.k_bias, t));
    v.push_back(project(layer.v, layer.v_bias, t));
    for (std::int64_t h = 0; h < heads_; ++h)
      rotate(q.back().data() + h * head_dim_, first_position + t);
    for (std::int64_t h = 0; h < kv_heads_; ++h)
      rotate(k.back().data() + h * head_dim_, first_position + t);
  }
  for (std::int64_t t = 0; t < count; ++t) {
    std::vector<double> row(static_cast<std::size_t>(heads_ * head_dim_), 0.0);
    for (std::int64_t h = 0; h < heads_; ++h) {
      const std::int64_t kv = h / (heads_ / kv_heads_) * head_dim_;
      const std::int64_t begin = window_ > 0 ? std::max<std::int64_t>(0, t - window_ + 1) : 0;
      std::vector<double> scores;
      for (std::int64_t s = begin; s <= t; ++s) {
        double dot = 0;
        for (std::int64_t d = 0; d < head_dim_; ++d) {
          dot += q[static_cast<std::size_t>(t)][static_cast<std::size_t>(h * head_dim_ + d)] *
                 k[static_cast<std::size_t>(s)][static_cast<std::size_t>(kv + d)];
        }
        scores.push_back(dot / std::sqrt(static_cast<double>(head_dim_)));
      }
      const double total = log_sum_exp(scores);
      for (std::int64_t s = begin; s <= t; ++s) {
        const double p = std::exp(scores[static_cast<std::size_t>(s - begin)] - total);
        for (std::int64_t d = 0; d < head_dim_; ++d) {
          row[static_cast<std::size_t>(h * head_dim_ + d)] +=
              p * v[static_cast<std::size_t>(s)][static_cast<std::size_t>(kv + d)];
        }
      }
    }
    out.push_back(std::move(row));
  }
  return out;
}

ReferenceModel::Rows ReferenceModel::normalize(const Rows& rows,
                                               const std::vector<double>& weight) const {
  Rows result;
  for (const auto& row : rows) result.push_back(normalize(row, weight));
  return result;
}

ReferenceModel::Rows ReferenceModel::residual(const Rows& hidden, const Matrix& w,
                                              const Rows& x) const {
  Rows result = hidden;
  for (std::size_t t = 0; t < hidden.size(); ++t) {
    const std::vector<double> y = multiply(w, x[t]);
    for (std::size_t i = 0; i < y.size(); ++i) result[t][i] += y[i];
  }
  return result;
}

ReferenceModel::Rows ReferenceModel::activation(const Layer& layer, const Rows& normed) const {
  Rows result;
  for (const auto& row : normed) {
    std::vector<double> gate = multiply(layer.gate, row);
    const std::vector<double> up = multiply(layer.up, row);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = silu(gate[i]) * up[i];
    result.push_back(std::move(gate));
  }
  return result;
}

ReferenceModel::Trace ReferenceModel::trace(std::int64_t index, const Trace& given,
                                            std::int64_t first_position) const {
  const Layer& layer = layers_[static_cast<std::size_t>(index)];
  Trace expected;
  expected.attention = normalize(given.hidden, layer.attn_norm);
  expected.attended = attention(layer, given.attention, first_position);
  const Rows middle = residual(given.hidden, layer.o, given.attended);
  expected.ffn = normalize(middle, layer.ffn_norm);
  expected.activated = activation(layer, given.ffn);
  expected.next_hidden = residual(middle, layer.down, given.activated);
  return expected;
}

std::vector<std::vector<double>> ReferenceModel::logits(std::span<const std::int32_t> tokens,
                                                        std::int64_t first_position) const {
  Rows hidden;
  for (const std::int32_t token : tokens) {
    const auto begin = embedding_.begin() + static_cast<std::ptrdiff_t>(token) * hidden_;
    hidden.emplace_back(begin, begin + hidden_);
  }
  for (const Layer& layer : layers_) {
    hidden = residual(hidden, layer.o,
                      attention(layer, normalize(hidden, layer.attn_norm), first_position));
    hidden = residual(hidden, layer.down, activation(layer, normalize(hidden, layer.ffn_norm)));
  }
  return output(normalize_output(hidden));
}

ReferenceModel::Rows ReferenceModel::output(const Rows& normed) const {
  Rows result;
  for (const auto& row : normed) result.push_back(multiply(output_, row));
  return result;
}

double log_sum_exp(std::span<const double> row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double value : row) sum += std::exp(value - top);
  return top + std::log(sum);
}

double kl_divergence(std::span<const double> reference, std::span<const float> other) {
  const std::vector<double> q(other.begin(), other.end());
  const double log_p_total = log_sum_exp(reference);
  const double log_q_total = log_sum_exp(q);
  double sum = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double log_p = reference[i] - log_p_total;
    sum += std::exp(log_p) * (log_p - (q[i] - log_q_total));
  }
  return sum;
}

}  // namespace r1::support
