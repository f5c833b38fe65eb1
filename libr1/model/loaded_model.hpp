// What a Model handle points at: config, weights, tokenizer, template, sampling defaults.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "libr1/model/config.hpp"
#include "libr1/model/weights.hpp"
#include "libr1/text/tokenizer.hpp"
#include "r1/model.hpp"

namespace r1::model {

/// Immutable once made; shared by all handles.
class LoadedModel {
 public:
  /// Loads everything from an open file; `start` is when the load began, for info.load_ms. Throws
  /// Error.
  static std::shared_ptr<const LoadedModel> load(const gguf::Reader& file,
                                                 const LoadOptions& options,
                                                 std::chrono::steady_clock::time_point start);

  Config config;
  Weights weights;
  std::shared_ptr<const text::Tokenizer> text_tokenizer;
  r1::Tokenizer tokenizer;
  r1::ChatTemplate chat_template;
  SamplingOptions sampling_defaults;                   ///< every field but the seed is given
  std::shared_ptr<const std::vector<bool>> samplable;  ///< [vocab] ids that sampling may choose
  ModelInfo info;

 private:
  LoadedModel(std::shared_ptr<const text::Tokenizer> tokenizer_impl, r1::ChatTemplate chat);
};

}  // namespace r1::model
