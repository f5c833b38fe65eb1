// Fuzzes loading and running a whole model: the input is the header of a tiny Qwen2 file, the
// tensors' bytes are added behind it. Any header either ends in an r1::Error of one line or gives a
// model that answers.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "libr1/gguf/reader.hpp"
#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/fuzz/fuzz_driver.hpp"
#include "tests/support/random_model.hpp"

namespace {

using namespace r1;

/// A model whose header is mostly numbers and tensor entries: the smallest that the engine takes.
const std::vector<std::byte>& model_image() {
  static const std::vector<std::byte> image = support::random_model({.layers = 1,
                                                                     .hidden = 32,
                                                                     .heads = 2,
                                                                     .kv_heads = 1,
                                                                     .head_dim = 16,
                                                                     .ffn = 32,
                                                                     .vocab = 288,
                                                                     .yarn_factor = 2,
                                                                     .yarn_original_context = 512});
  return image;
}

std::size_t header_size() {
  const auto file = gguf::Reader::from_memory(model_image(), "seed");
  const auto& tensors = file.tensors();
  return static_cast<std::size_t>(
      std::min_element(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
        return a.offset < b.offset;
      })->offset);
}

void run(const std::vector<std::byte>& image) {
  const Model model = Model::load(image, {.threads = 1});
  Engine engine(model, {.threads = 1, .kv_tokens = 64});
  Session session = engine.open_session({.max_tokens = 2});
  session.user("hi");
  while (session.next()) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::size_t header = header_size();
  const std::span<const std::byte> input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> image(input.begin(), input.end());
  image.insert(image.end(), model_image().begin() + static_cast<std::ptrdiff_t>(header),
               model_image().end());
  try {
    run(image);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}

std::vector<std::string> r1::fuzz::seeds() {
  const auto* bytes = reinterpret_cast<const char*>(model_image().data());
  return {std::string(bytes, header_size())};
}
