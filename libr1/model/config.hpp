// The numbers of a Qwen2 model, read from GGUF metadata and checked against each other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "libr1/gguf/reader.hpp"

namespace r1::model {

/// How positions are stretched beyond the trained ones.
struct RopeScaling {
  enum class Kind { none, linear, yarn };
  Kind kind = Kind::none;
  double factor = 1;            ///< >= 1
  double original_context = 0;  ///< positions before stretching
  double beta_fast = 32;        ///< YaRN, arXiv:2309.00071
  double beta_slow = 1;
  double attention_factor = 1;  ///< extra factor on cos and sin, beside YaRN's 0.1 ln(factor) + 1
};

/// Shape and constants of the network.
struct Config {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t ffn = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocab = 0;            ///< rows of the embedding
  std::int64_t trained_context = 0;  ///< positions, YaRN included
  std::int64_t sliding_window = 0;   ///< 0: none
  float rms_eps = 1e-6F;
  double rope_base = 1e6;
  RopeScaling rope_scaling;
};

/// Receives one-line warnings.
using Warn = std::function<void(std::string_view)>;

/// Reads and checks `qwen2.*`. Throws Error{bad_file, unsupported} naming the key; guesses are told
/// to `warn`.
Config read_config(const gguf::Reader& file, const Warn& warn);

}  // namespace r1::model
