// Which sampling settings a model wants when the caller does not say.
#pragma once

#include "libr1/gguf/reader.hpp"
#include "r1/generation.hpp"

namespace r1::model {

/// The file's general.sampling.* keys, else the family's: R1 distills 0.6 / top-p 0.95 (the
/// DeepSeek-R1 model card), others Qwen2.5's generation_config (0.7, top-p 0.8, top-k 20,
/// penalty 1.05). All fields but the seed are set. Throws Error{bad_file} for a value that is no
/// number.
SamplingOptions sampling_defaults(const gguf::Reader& file, bool is_r1);

/// `options` with empty fields taken from `defaults`.
SamplingOptions merge(const SamplingOptions& options, const SamplingOptions& defaults);

}  // namespace r1::model
