// A loaded model: weights, tokenizer, chat template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "r1/chat.hpp"
#include "r1/generation.hpp"
#include "r1/tokenizer.hpp"

namespace r1 {

/// How a model is loaded. Callbacks run on the loading thread.
struct LoadOptions {
  int threads = 0;           ///< threads that pack the weights; 0: as many as this process may use
  bool use_mmap = true;      ///< map the file; false: read it
  bool lock_memory = false;  ///< mlock the packed weights; failure is a warning
  /// Packed weights, and with them KV caches, on reserved huge pages; when there are too few, one
  /// warning and normal pages, which the system is always asked to make huge where it can.
  bool huge_pages = false;
  std::function<void(double fraction)> on_progress = {};       ///< 0..1, at most some 100 calls
  std::function<void(std::string_view line)> on_warning = {};  ///< one line each
};

/// Numbers of a model that callers show or plan with.
struct ModelInfo {
  std::string name;          ///< general.name, or the file's name; printable
  std::string architecture;  ///< "qwen2"
  std::string quantization;  ///< the weight type that holds most bytes, for example "Q4_K"
  std::int64_t layers = 0, hidden = 0, ffn = 0, heads = 0, kv_heads = 0, head_dim = 0, vocab = 0;
  std::int64_t trained_context = 0;  ///< positions the file says it was trained for (after YaRN)
  std::int64_t parameters = 0;
  std::int64_t tensor_bytes = 0;  ///< bytes of all tensors in the file
  std::int64_t packed_bytes = 0;  ///< bytes of the packed weights in memory
  double load_ms = 0;             ///< open to ready
  bool is_r1 = false;             ///< an R1 distill, by its vocabulary
};

/// A model of a known shape with made-up weights, to learn how fast such a model runs before
/// fetching it. It writes nonsense.
struct SyntheticOptions {
  std::string shape = "r1-1.5b";  ///< one of synthetic_shapes()
  std::string type = "Q4_K_M";    ///< one of synthetic_types()
  std::uint64_t seed = 1;         ///< equal options give equal weights
};

/// "qwen2.5-0.5b", "r1-1.5b", "r1-7b". Any thread.
std::vector<std::string> synthetic_shapes();
/// The weight types by their GGUF names (all matrices of that type) and llama.cpp's mixtures, such
/// as "Q4_K_M". A matrix whose rows are no multiple of a type's block gets the type that llama.cpp
/// takes instead. Any thread.
std::vector<std::string> synthetic_types();
/// Writes the model that Model::synthetic() makes as a GGUF file, for other programs. Throws
/// Error{invalid_argument} naming the known shapes or types, Error{io}.
void write_synthetic(const std::string& path, const SyntheticOptions& options);

namespace model {
class LoadedModel;
}

/// Handle to an immutable model, cheap to copy; the weights live until the last copy goes.
/// Thread-safe.
class Model {
 public:
  /// Loads a GGUF file (any part of a split set opens the set). Throws Error with one clear line.
  static Model load(const std::string& path, const LoadOptions& options = {});
  /// Loads a GGUF image that is in memory; it is copied as needed and may go after the call.
  static Model load(std::span<const std::byte> gguf, const LoadOptions& options = {});
  /// Makes a model in memory, its weights slice by slice as they are packed. Throws
  /// Error{invalid_argument} naming the known shapes or types.
  static Model synthetic(const SyntheticOptions& synthetic, const LoadOptions& options = {});

  const Tokenizer& tokenizer() const;
  const ChatTemplate& chat_template() const;
  const ModelInfo& info() const;
  /// `options` with every empty field filled: the file's value, else the family's default.
  SamplingOptions resolve(const SamplingOptions& options) const;

  /// The implementation, for the library itself.
  const model::LoadedModel& impl() const { return *impl_; }

 private:
  explicit Model(std::shared_ptr<const model::LoadedModel> impl);
  std::shared_ptr<const model::LoadedModel> impl_;
};

}  // namespace r1
