// Checks what a caller asks of the sampler (cases G1, G2). Nothing is clamped in silence, except
// that a top_k beyond the vocabulary means "all", as in every other engine.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>
#include <string_view>

#include "libr1/sampling/chain.hpp"
#include "r1/error.hpp"

namespace r1::sampling {
namespace {

constexpr float kBiasMax = 1e30F;

[[noreturn]] void refuse(std::string_view field, std::string_view expected, double got) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: expected {}, got {:.9g}", field, expected, got));
}

// Also refuses NaN, which compares false with everything.
float in_range(const std::optional<float>& value, float fallback, float low, float high,
               std::string_view field) {
  if (!value) return fallback;
  if (!(*value >= low && *value <= high)) {
    refuse(field, fmt::format("a number from {} to {}", low, high), static_cast<double>(*value));
  }
  return *value;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

Params make_params(const SamplingOptions& options, std::int64_t vocab_size) {
  Params params;
  params.temperature = in_range(options.temperature, params.temperature, 0, 100, "temperature");
  params.top_p = in_range(options.top_p, params.top_p, 0, 1, "top_p");
  params.min_p = in_range(options.min_p, params.min_p, 0, 1, "min_p");
  params.frequency_penalty =
      in_range(options.frequency_penalty, params.frequency_penalty, -100, 100, "frequency_penalty");
  params.presence_penalty =
      in_range(options.presence_penalty, params.presence_penalty, -100, 100, "presence_penalty");

  params.repeat_penalty = options.repeat_penalty.value_or(params.repeat_penalty);
  if (!(params.repeat_penalty > 0 && params.repeat_penalty <= 100)) {
    refuse("repeat_penalty", "a number above 0, up to 100",
           static_cast<double>(params.repeat_penalty));
  }
  params.repeat_last_n = options.repeat_last_n.value_or(params.repeat_last_n);
  if (params.repeat_last_n < -1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("repeat_last_n: expected -1 (all) or a number of tokens, got {}",
                            params.repeat_last_n));
  }
  params.top_k = options.top_k.value_or(params.top_k);
  if (params.top_k <= 0 || params.top_k >= vocab_size) params.top_k = 0;

  for (const auto& [id, bias] : options.logit_bias) {
    if (id < 0 || id >= vocab_size) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("logit_bias: expected token ids from 0 to {}, got {}", vocab_size - 1, id));
    }
    if (!(std::abs(bias) <= kBiasMax)) {
      refuse(fmt::format("logit_bias of token {}", id), "a number from -1e30 to 1e30",
             static_cast<double>(bias));
    }
  }
  params.logit_bias = options.logit_bias;
  params.seed = options.seed ? *options.seed : random_seed();
  return params;
}

}  // namespace r1::sampling
