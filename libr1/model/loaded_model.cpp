// Loading a model, and the public handle to it.
#include "libr1/model/loaded_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "libr1/base/cpu_budget.hpp"
#include "libr1/base/memory_info.hpp"
#include "libr1/model/sampling_defaults.hpp"
#include "libr1/model/synthetic.hpp"
#include "libr1/text/chat_template.hpp"
#include "libr1/text/utf8.hpp"
#include "r1/error.hpp"

namespace r1 {
namespace model {
namespace {

std::shared_ptr<const std::vector<bool>> samplable_ids(const text::Tokenizer& tokenizer,
                                                       std::int64_t vocab) {
  auto ids = std::make_shared<std::vector<bool>>(static_cast<std::size_t>(vocab), false);
  const std::int64_t named = std::min(vocab, tokenizer.vocab_size());
  for (std::int64_t id = 0; id < named; ++id) {
    (*ids)[static_cast<std::size_t>(id)] = tokenizer.is_samplable(static_cast<TokenId>(id));
  }
  return ids;
}

/// Every named token needs a row of the embedding.
void require_rows(const gguf::Reader& file, std::int64_t named, std::int64_t rows) {
  if (named <= rows) return;
  throw Error(ErrorCode::bad_file,
              fmt::format("{}: token_embd.weight: expected at least {} rows, one a token, got {}",
                          file.name(), named, rows));
}

std::string file_stem(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

ModelInfo describe(const LoadedModel& model, const std::string& file_name) {
  const Config& config = model.config;
  ModelInfo info;
  info.name = text::printable(config.name.empty() ? file_stem(file_name) : config.name);
  info.architecture = "qwen2";
  info.quantization = model.weights.main_type;
  info.layers = config.layers;
  info.hidden = config.hidden;
  info.ffn = config.ffn;
  info.heads = config.heads;
  info.kv_heads = config.kv_heads;
  info.head_dim = config.head_dim;
  info.vocab = config.vocab;
  info.trained_context = config.trained_context;
  info.parameters = model.weights.parameters;
  info.tensor_bytes = model.weights.tensor_bytes;
  info.packed_bytes = static_cast<std::int64_t>(model.weights.buffer.size());
  info.is_r1 = model.text_tokenizer->is_r1();
  return info;
}

}  // namespace

LoadedModel::LoadedModel(std::shared_ptr<const text::Tokenizer> tokenizer_impl,
                         r1::ChatTemplate chat)
    : text_tokenizer(tokenizer_impl),
      tokenizer(std::move(tokenizer_impl)),
      chat_template(std::move(chat)) {}

std::shared_ptr<const LoadedModel> LoadedModel::load(const gguf::Reader& file,
                                                     const LoadOptions& options,
                                                     std::chrono::steady_clock::time_point start) {
  const Warn warn = [&](std::string_view line) {
    if (options.on_warning) options.on_warning(line);
  };
  Config config = read_config(file, warn);
  Weights weights = bind_weights(file, config, warn);
  base::ThreadTeam team(options.threads > 0 ? options.threads : base::cpu_budget().threads);
  std::shared_ptr<LoadedModel> model;
  const auto make_text = [&] {
    auto tokenizer = text::Tokenizer::from_gguf(file, warn);
    require_rows(file, tokenizer->vocab_size(), config.vocab);
    r1::ChatTemplate chat(text::ChatTemplate::from_gguf(file, *tokenizer, warn));
    model = std::shared_ptr<LoadedModel>(new LoadedModel(std::move(tokenizer), std::move(chat)));
  };
  pack_weights(file, weights, team,
               {options.huge_pages ? base::Pages::reserved : base::Pages::advised, make_text,
                options.on_progress});
  model->weights = std::move(weights);
  model->config = config;
  if (options.huge_pages && model->weights.buffer.pages() != base::Pages::reserved) {
    warn(base::huge_page_shortage(static_cast<std::int64_t>(model->weights.buffer.size())));
  }
  if (options.lock_memory) {
    const std::string problem = model->weights.buffer.lock();
    if (!problem.empty()) warn(problem);
  }
  model->samplable = samplable_ids(*model->text_tokenizer, config.vocab);
  model->sampling_defaults = model::sampling_defaults(file, model->text_tokenizer->is_r1());
  model->info = describe(*model, file.name());
  model->info.load_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return model;
}

namespace {

std::shared_ptr<const LoadedModel> load_checked(const std::function<gguf::Reader()>& open,
                                                const LoadOptions& options) {
  if (options.threads < 0 || options.threads > 1024) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("load threads: expected 0 to 1024, got {}", options.threads));
  }
  const auto start = std::chrono::steady_clock::now();
  return LoadedModel::load(open(), options, start);
}

}  // namespace
}  // namespace model

Model::Model(std::shared_ptr<const model::LoadedModel> impl) : impl_(std::move(impl)) {}

Model Model::load(const std::string& path, const LoadOptions& options) {
  const auto access = options.use_mmap ? gguf::Access::map : gguf::Access::read;
  return Model(model::load_checked([&] { return gguf::Reader::open(path, access); }, options));
}

Model Model::load(std::span<const std::byte> gguf, const LoadOptions& options) {
  return Model(model::load_checked(
      [&] { return gguf::Reader::from_memory(gguf, "model in memory"); }, options));
}

Model Model::synthetic(const SyntheticOptions& synthetic, const LoadOptions& options) {
  const model::SyntheticShape shape = model::synthetic_shape(synthetic.shape);
  return Model(model::load_checked(
      [&] { return model::open_synthetic(shape, synthetic.type, synthetic.seed); }, options));
}

const Tokenizer& Model::tokenizer() const { return impl_->tokenizer; }
const ChatTemplate& Model::chat_template() const { return impl_->chat_template; }
const ModelInfo& Model::info() const { return impl_->info; }

SamplingOptions Model::resolve(const SamplingOptions& options) const {
  return model::merge(options, impl_->sampling_defaults);
}

}  // namespace r1
