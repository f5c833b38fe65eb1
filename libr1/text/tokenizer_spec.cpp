// Key names: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, section "Tokenizer".
#include "libr1/text/tokenizer_spec.hpp"

#include <utility>

#include "libr1/gguf/reader.hpp"

namespace r1::text {

TokenizerSpec tokenizer_spec_from_gguf(const gguf::Reader& file) {
  TokenizerSpec spec;
  spec.file = file.name();
  spec.architecture = file.get_string("general.architecture");
  spec.model = file.get_string("tokenizer.ggml.model");
  spec.pre = file.get_string("tokenizer.ggml.pre");
  if (auto tokens = file.get_strings("tokenizer.ggml.tokens")) spec.tokens = std::move(*tokens);
  if (auto kinds = file.get_ints("tokenizer.ggml.token_type")) spec.kinds = std::move(*kinds);
  spec.merges = file.get_strings("tokenizer.ggml.merges");
  spec.add_bos = file.get_bool("tokenizer.ggml.add_bos_token");
  spec.bos = file.get_int("tokenizer.ggml.bos_token_id");
  spec.eos = file.get_int("tokenizer.ggml.eos_token_id");
  spec.eot = file.get_int("tokenizer.ggml.eot_token_id");
  return spec;
}

}  // namespace r1::text
