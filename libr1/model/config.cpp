// Reads `qwen2.*` keys. A value that is missing without a safe default, out of range or at odds
// with another one is refused by name (cases L1, L6).
#include "libr1/model/config.hpp"

#include <fmt/format.h>

#include <cmath>

#include "libr1/gguf/message.hpp"
#include "r1/error.hpp"

namespace r1::model {
namespace {

// Bounds that no real model comes near and that keep every later product within 64 bits.
constexpr std::int64_t kLayersMax = 4096;
constexpr std::int64_t kWidthMax = 1 << 20;
constexpr std::int64_t kContextMax = std::int64_t{1} << 30;
constexpr std::int64_t kHeadDimMax = 256;

class Keys {
 public:
  explicit Keys(const gguf::Reader& file) : file_(file) {}

  std::int64_t required(const char* key, std::int64_t min, std::int64_t max) const {
    const auto value = file_.get_int(full(key));
    if (!value) fail(key, "an integer", "no such key");
    return checked(key, *value, min, max);
  }
  std::int64_t optional(const char* key, std::int64_t fallback, std::int64_t min,
                        std::int64_t max) const {
    const auto value = file_.get_int(full(key));
    return value ? checked(key, *value, min, max) : fallback;
  }
  double number(const char* key, double fallback, double min, double max) const {
    const auto value = file_.get_float(full(key));
    if (!value) return fallback;
    if (!(*value >= min && *value <= max)) {
      fail(key, fmt::format("{} to {}", min, max), fmt::format("{}", *value));
    }
    return *value;
  }
  bool has(const char* key) const { return file_.has(full(key)); }
  std::string text(const char* key) const { return file_.get_string(full(key)).value_or(""); }

  [[noreturn]] void fail(const char* key, const std::string& expected,
                         const std::string& got) const {
    throw Error(ErrorCode::bad_file,
                fmt::format("{}: {}: expected {}, got {}", file_.name(), full(key), expected, got));
  }

 private:
  static std::string full(const char* key) { return std::string("qwen2.") + key; }
  std::int64_t checked(const char* key, std::int64_t value, std::int64_t min,
                       std::int64_t max) const {
    if (value < min || value > max) {
      fail(key, fmt::format("{} to {}", min, max), fmt::format("{}", value));
    }
    return value;
  }
  const gguf::Reader& file_;
};

RopeScaling read_scaling(const Keys& keys, const gguf::Reader& file, std::int64_t context,
                         const Warn& warn) {
  RopeScaling scaling;
  std::string kind = keys.text("rope.scaling.type");
  // Files from before there were kinds; llama.cpp reads them this way, too.
  if (kind.empty() && keys.number("rope.scaling.factor", 1, 0, 4096) > 1) {
    warn("the file has qwen2.rope.scaling.factor but no qwen2.rope.scaling.type: taking linear");
    kind = "linear";
  }
  if (kind.empty() || kind == "none") return scaling;
  if (kind != "linear" && kind != "yarn") {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: qwen2.rope.scaling.type: expected none, linear or yarn, got {}",
                            file.name(), gguf::quote_name(kind)));
  }
  scaling.kind = kind == "yarn" ? RopeScaling::Kind::yarn : RopeScaling::Kind::linear;
  scaling.factor = keys.number("rope.scaling.factor", 1, 1, 4096);
  scaling.original_context = static_cast<double>(
      keys.optional("rope.scaling.original_context_length", context, 1, kContextMax));
  scaling.beta_fast = keys.number("rope.scaling.yarn_beta_fast", 32, 1e-3, 1e6);
  scaling.beta_slow = keys.number("rope.scaling.yarn_beta_slow", 1, 1e-3, 1e6);
  scaling.attention_factor = keys.number("rope.scaling.attn_factor", 1, 1e-3, 1e3);
  return scaling;
}

double read_rope_base(const Keys& keys, const Warn& warn) {
  if (!keys.has("rope.freq_base")) {
    warn("the file has no qwen2.rope.freq_base: taking 1000000, Qwen2's own");
    return 1e6;
  }
  return keys.number("rope.freq_base", 1e6, 1.001, 1e12);
}

}  // namespace

Config read_config(const gguf::Reader& file, const Warn& warn) {
  const std::string architecture = file.get_string("general.architecture").value_or("");
  if (architecture != "qwen2") {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: general.architecture: expected qwen2, got {}", file.name(),
                            architecture.empty() ? "no such key" : gguf::quote_name(architecture)));
  }
  const Keys keys(file);
  Config config;
  config.name = file.get_string("general.name").value_or("");
  config.layers = keys.required("block_count", 1, kLayersMax);
  config.hidden = keys.required("embedding_length", 1, kWidthMax);
  config.ffn = keys.required("feed_forward_length", 1, kWidthMax);
  config.heads = keys.required("attention.head_count", 1, kWidthMax);
  config.kv_heads = keys.optional("attention.head_count_kv", config.heads, 1, config.heads);
  if (config.heads % config.kv_heads != 0) {
    keys.fail("attention.head_count_kv", fmt::format("a divisor of {}", config.heads),
              fmt::format("{}", config.kv_heads));
  }
  if (!keys.has("attention.key_length") && config.hidden % config.heads != 0) {
    keys.fail("attention.head_count", fmt::format("a divisor of {}", config.hidden),
              fmt::format("{}", config.heads));
  }
  config.head_dim =
      keys.optional("attention.key_length", config.hidden / config.heads, 1, kWidthMax);
  if (config.head_dim % 16 != 0 || config.head_dim > kHeadDimMax) {
    keys.fail("attention.key_length", fmt::format("a multiple of 16 up to {}", kHeadDimMax),
              fmt::format("{}", config.head_dim));
  }
  for (const char* key : {"attention.value_length", "rope.dimension_count"}) {
    if (keys.optional(key, config.head_dim, 1, kWidthMax) != config.head_dim) {
      keys.fail(key, fmt::format("{}", config.head_dim),
                fmt::format("{}", keys.required(key, 1, kWidthMax)));
    }
  }
  config.rms_eps = static_cast<float>(keys.number("attention.layer_norm_rms_epsilon", 1e-6, 0, 1));
  const std::int64_t context = keys.required("context_length", 1, kContextMax);
  config.rope_base = read_rope_base(keys, warn);
  config.rope_scaling = read_scaling(keys, file, context, warn);
  const RopeScaling& scaling = config.rope_scaling;
  config.trained_context = context;
  if (scaling.kind != RopeScaling::Kind::none) {
    const double stretched =
        std::min(scaling.factor * scaling.original_context, static_cast<double>(kContextMax));
    config.trained_context = std::max(context, static_cast<std::int64_t>(stretched));
  }
  config.sliding_window = keys.optional("attention.sliding_window", 0, 0, kContextMax);
  return config;
}

}  // namespace r1::model
