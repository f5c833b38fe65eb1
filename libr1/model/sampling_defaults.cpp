// Sampling defaults: flag, then file, then family.
#include "libr1/model/sampling_defaults.hpp"

namespace r1::model {
namespace {

template <class T>
void fill(std::optional<T>& field, const std::optional<T>& fallback) {
  if (!field) field = fallback;
}

std::optional<float> float_key(const gguf::Reader& file, const char* key) {
  const auto value = file.get_float(key);
  return value ? std::optional<float>(static_cast<float>(*value)) : std::nullopt;
}

}  // namespace

SamplingOptions merge(const SamplingOptions& options, const SamplingOptions& defaults) {
  SamplingOptions merged = options;
  fill(merged.temperature, defaults.temperature);
  fill(merged.top_k, defaults.top_k);
  fill(merged.top_p, defaults.top_p);
  fill(merged.min_p, defaults.min_p);
  fill(merged.repeat_penalty, defaults.repeat_penalty);
  fill(merged.frequency_penalty, defaults.frequency_penalty);
  fill(merged.presence_penalty, defaults.presence_penalty);
  fill(merged.repeat_last_n, defaults.repeat_last_n);
  return merged;
}

SamplingOptions sampling_defaults(const gguf::Reader& file, bool is_r1) {
  SamplingOptions family;
  family.temperature = is_r1 ? 0.6F : 0.7F;
  family.top_k = is_r1 ? 0 : 20;
  family.top_p = is_r1 ? 0.95F : 0.8F;
  family.min_p = 0.0F;
  family.repeat_penalty = is_r1 ? 1.0F : 1.05F;
  family.frequency_penalty = 0.0F;
  family.presence_penalty = 0.0F;
  family.repeat_last_n = 64;

  SamplingOptions stated;
  stated.temperature = float_key(file, "general.sampling.temp");
  stated.top_k = file.get_int("general.sampling.top_k");
  stated.top_p = float_key(file, "general.sampling.top_p");
  stated.min_p = float_key(file, "general.sampling.min_p");
  stated.repeat_penalty = float_key(file, "general.sampling.penalty_repeat");
  stated.repeat_last_n = file.get_int("general.sampling.penalty_last_n");
  return merge(stated, family);
}

}  // namespace r1::model
