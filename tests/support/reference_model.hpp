// A Qwen2 forward pass in double precision, written to be read: the oracle of the engine's tests.
// It shares nothing with libr1's forward pass but the GGUF reader and the formats' scalar decoding,
// both of which have tests of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libr1/gguf/reader.hpp"

namespace r1::support {

/// All weights widened to double, matrices transposed to [k][n] so that compilers vectorise over n.
class ReferenceModel {
 public:
  /// `activation_codes`: round the inputs of quantized matrices to int8 in blocks of 32, as the
  /// engine does, so that only the arithmetic is compared.
  explicit ReferenceModel(const gguf::Reader& file, bool activation_codes = false);

  /// Logits after each token: [tokens][vocab]. Position of token i: first_position + i.
  std::vector<std::vector<double>> logits(std::span<const std::int32_t> tokens,
                                          std::int64_t first_position = 0) const;
  using Rows = std::vector<std::vector<double>>;
  /// What flows through a layer, [tokens][width] each; the names are those of runtime::Stage.
  struct Trace {
    Rows hidden, attention, attended, ffn, activated, next_hidden;
  };
  /// What each stage should be, computed from `given`'s stage before it alone.
  Trace trace(std::int64_t index, const Trace& given, std::int64_t first_position = 0) const;
  /// The last norm.
  Rows normalize_output(const Rows& hidden) const { return normalize(hidden, output_norm_); }
  /// Logits of normalised hidden states.
  Rows output(const Rows& normed) const;
  std::int64_t layers() const { return static_cast<std::int64_t>(layers_.size()); }

 private:
  struct Matrix {
    std::int64_t n = 0, k = 0;
    bool int8_inputs = false;
    bool fine_inputs =
        false;  ///< those of the first layers: codes of the codes' remainder are added
    std::vector<double> transposed;  ///< [k][n]
  };
  struct Layer {
    std::vector<double> attn_norm, ffn_norm, q_bias, k_bias, v_bias;
    Matrix q, k, v, o, gate, up, down;
  };

  static std::vector<double> decode(const gguf::Reader& file, const std::string& name);
  Matrix matrix(const gguf::Reader& file, const std::string& name) const;
  static std::vector<double> multiply(const Matrix& w, const std::vector<double>& input);
  std::vector<double> normalize(const std::vector<double>& x,
                                const std::vector<double>& weight) const;
  void rotate(double* head, std::int64_t position) const;
  Rows normalize(const Rows& rows, const std::vector<double>& weight) const;
  Rows residual(const Rows& hidden, const Matrix& w, const Rows& x) const;
  Rows activation(const Layer& layer, const Rows& normed) const;
  Rows attention(const Layer& layer, const Rows& normed, std::int64_t first_position) const;

  bool activation_codes_;
  std::int64_t hidden_, heads_, kv_heads_, head_dim_, vocab_, window_;
  double eps_;
  std::vector<double> inverse_frequencies_;
  double rope_magnitude_ = 1;
  std::vector<double> embedding_;  ///< [vocab][hidden]
  Matrix output_;
  std::vector<double> output_norm_;
  std::vector<Layer> layers_;
};

/// log(sum(exp(x))) of a row.
double log_sum_exp(std::span<const double> row);
/// Kullback-Leibler divergence in nats from softmax(reference) to softmax(other), over whole rows.
double kl_divergence(std::span<const double> reference, std::span<const float> other);

}  // namespace r1::support
