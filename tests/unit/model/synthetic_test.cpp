// Synthetic models: known shapes against published numbers, the open model against the written
// file, and a run through the network.
#include "libr1/model/synthetic.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <thread>

#include "libr1/model/loaded_model.hpp"
#include "r1/error.hpp"
#include "tests/support/forward_logits.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/temp_folder.hpp"

using namespace r1;
using kernels::WeightType;

namespace {

model::SyntheticShape small_shape() {
  return {.name = "small",
          .layers = 2,
          .hidden = 256,
          .ffn = 512,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 64,
          .vocab = 330,
          .named_tokens = 320,
          .tied = false,
          .context = 2048,
          .rope_base = 1e4F,
          .family = model::TokenFamily::r1};
}

std::vector<std::byte> bytes_of(const gguf::Reader& file, const gguf::TensorInfo& tensor) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes));
  file.read(tensor, 0, bytes);
  return bytes;
}

std::int64_t parameters_of(const gguf::Reader& file) {
  std::int64_t values = 0;
  for (const auto& tensor : file.tensors()) values += tensor.values();
  return values;
}

std::int64_t bytes_in(const gguf::Reader& file) {
  std::int64_t bytes = 0;
  for (const auto& tensor : file.tensors()) bytes += tensor.bytes;
  return bytes;
}

WeightType type_in(const gguf::Reader& file, const std::string& name) {
  const auto* tensor = file.find(name);
  REQUIRE(tensor != nullptr);
  return tensor->type;
}

void fail_on_warning(std::string_view line) { FAIL_CHECK("expected no warning, got: " << line); }

template <class Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("known shapes have the parameters of the models they are named after") {
  // The parameter counts on the models' pages (safetensors index).
  const std::map<std::string, std::int64_t> published = {
      {"qwen2.5-0.5b", 494'032'768}, {"r1-1.5b", 1'777'088'000}, {"r1-7b", 7'615'616'512}};
  CHECK(synthetic_shapes() == std::vector<std::string>{"qwen2.5-0.5b", "r1-1.5b", "r1-7b"});
  for (const auto& [name, parameters] : published) {
    INFO(name);
    const auto file = model::open_synthetic(model::synthetic_shape(name), "F16", 1);
    CHECK(parameters_of(file) == parameters);
    const model::Config config = model::read_config(file, fail_on_warning);
    CHECK(config.head_dim == (name == "qwen2.5-0.5b" ? 64 : 128));
    CHECK(config.trained_context == (name == "qwen2.5-0.5b" ? 32768 : 131072));
    CHECK(config.rope_base == (name == "qwen2.5-0.5b" ? 1e6 : 1e4));
    CHECK(config.rms_eps == 1e-6F);
    CHECK((file.find("output.weight") == nullptr) == (name == "qwen2.5-0.5b"));
  }
}

TEST_CASE("r1-1.5b in Q4_K_M has the types and bytes of llama.cpp's file") {
  const auto file = model::open_synthetic(model::synthetic_shape("r1-1.5b"), "Q4_K_M", 1);
  std::map<WeightType, int> count;
  for (const auto& tensor : file.tensors()) ++count[tensor.type];
  // 28 layers with 2 norms and 3 biases and the last norm; the output and 14 layers' attn_v and
  // ffn_down; the embedding and all the rest of 28 x 7 matrices.
  CHECK(count == std::map<WeightType, int>{
                     {WeightType::f32, 141}, {WeightType::q6_k, 29}, {WeightType::q4_k, 169}});
  CHECK(type_in(file, "token_embd.weight") == WeightType::q4_k);
  CHECK(type_in(file, "output.weight") == WeightType::q6_k);
  CHECK(type_in(file, "blk.2.ffn_down.weight") == WeightType::q6_k);
  CHECK(type_in(file, "blk.3.ffn_down.weight") == WeightType::q4_k);
  CHECK(type_in(file, "blk.23.attn_v.weight") == WeightType::q6_k);
  // Blocks of 256: Q4_K 144 bytes, Q6_K 210 bytes.
  constexpr std::int64_t kEnds = 151936 * 1536 / 256 * (144 + 210) + 1536 * 4;
  constexpr std::int64_t kLayer =  // all but attn_v and ffn_down
      (2 * 1536 * 1536 + 256 * 1536 + 2 * 8960 * 1536) / 256 * 144 + (2 * 1536 + 1536 + 512) * 4;
  constexpr std::int64_t kRaised = (256 * 1536 + 8960 * 1536) / 256;
  CHECK(bytes_in(file) == kEnds + 28 * kLayer + 14 * kRaised * (144 + 210));
  CHECK(bytes_in(file) == 1'111'370'240);
}

TEST_CASE("qwen2.5-0.5b in Q4_K_M falls back where 896 is no multiple of 256") {
  const auto file = model::open_synthetic(model::synthetic_shape("qwen2.5-0.5b"), "Q4_K_M", 1);
  CHECK(type_in(file, "token_embd.weight") == WeightType::q8_0);
  CHECK(type_in(file, "blk.3.attn_q.weight") == WeightType::q5_0);
  CHECK(type_in(file, "blk.0.attn_v.weight") == WeightType::q8_0);
  CHECK(type_in(file, "blk.3.attn_v.weight") == WeightType::q5_0);
  CHECK(type_in(file, "blk.0.ffn_down.weight") == WeightType::q6_k);
  CHECK(type_in(file, "blk.3.ffn_down.weight") == WeightType::q4_k);
}

TEST_CASE("the open model and the written file are the same, in every type") {
  const testing::TempFolder folder;
  for (const std::string& type : synthetic_types()) {
    INFO(type);
    const auto made = model::open_synthetic(small_shape(), type, 7);
    const std::string path = folder.file(type + ".gguf");
    model::write_synthetic(path, small_shape(), type, 7);
    const auto written = gguf::Reader::open(path);
    CHECK(made.keys() == written.keys());
    for (const std::string& key : written.keys()) CHECK(made.get(key) == written.get(key));
    REQUIRE(made.tensors().size() == 2 * 12 + 3);
    REQUIRE(written.tensors().size() == made.tensors().size());
    for (std::size_t i = 0; i < made.tensors().size(); ++i) {
      const auto& tensor = made.tensors()[i];
      const auto& other = written.tensors()[i];
      CHECK(tensor.name == other.name);
      CHECK(tensor.shape == other.shape);
      CHECK(tensor.type == other.type);
      CHECK(bytes_of(made, tensor) == bytes_of(written, other));
    }
  }
}

TEST_CASE("weights depend on the seed, and no two matrices are equal") {
  const auto first = model::open_synthetic(small_shape(), "Q4_K_M", 1);
  const auto again = model::open_synthetic(small_shape(), "Q4_K_M", 1);
  const auto other = model::open_synthetic(small_shape(), "Q4_K_M", 2);
  std::vector<std::vector<std::byte>> seen;
  for (const auto& tensor : first.tensors()) {
    INFO(tensor.name);
    const auto bytes = bytes_of(first, tensor);
    CHECK(bytes == bytes_of(again, tensor));
    CHECK(bytes != bytes_of(other, tensor));
    CHECK(std::find(seen.begin(), seen.end(), bytes) == seen.end());
    seen.push_back(bytes);
  }
}

TEST_CASE("threads may make slices at once") {
  const auto file = model::open_synthetic(model::synthetic_shape("qwen2.5-0.5b"), "Q4_K", 1);
  const auto& tensor = *file.find("blk.1.ffn_down.weight");
  const auto whole = bytes_of(file, tensor);
  std::vector<std::byte> parts(whole.size());
  const std::size_t slice = whole.size() / 4 + 1;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::size_t begin = i * slice;
      file.read(tensor, static_cast<std::int64_t>(begin),
                std::span(parts).subspan(begin, std::min(slice, whole.size() - begin)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(parts == whole);
}

TEST_CASE("an open model loads as its file does, without warnings") {
  const testing::TempFolder folder;
  const LoadOptions options{.threads = 2, .on_warning = fail_on_warning};
  const auto made = model::LoadedModel::load(model::open_synthetic(small_shape(), "Q5_K_M", 3),
                                             options, std::chrono::steady_clock::now());
  const std::string path = folder.file("model.gguf");
  model::write_synthetic(path, small_shape(), "Q5_K_M", 3);
  const Model read = Model::load(path, options);
  CHECK(made->info.name == "synthetic small Q5_K_M");
  CHECK(made->info.parameters == read.info().parameters);
  CHECK(made->info.is_r1);
  const auto& a = made->weights.buffer;
  const auto& b = read.impl().weights.buffer;
  REQUIRE(a.size() == b.size());
  CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
}

TEST_CASE("logits are finite and neither flat nor wild") {
  const testing::TempFolder folder;
  const std::string path = folder.file("model.gguf");
  const auto tokens = support::random_tokens(20, 320, 1);
  for (const std::string& type : synthetic_types()) {
    INFO(type);
    model::write_synthetic(path, small_shape(), type, 1);
    for (const auto& row : support::forward_logits(Model::load(path), tokens)) {
      double squares = 0;
      for (const float logit : row) squares += static_cast<double>(logit) * logit;
      // Normed rows of 256 values of about 1 times weights of 0.02 give about 0.32.
      const double deviation = std::sqrt(squares / static_cast<double>(row.size()));
      CHECK(deviation > 0.1);
      CHECK(deviation < 1);
    }
  }
}

TEST_CASE("unknown shapes and types are refused with the known names") {
  for (const char* shape : {"", "r1", "R1-7B"}) {
    CHECK_THAT(
        refusal_of([&] { Model::synthetic({.shape = shape}); }),
        Catch::Equals("synthetic model: shape: expected one of qwen2.5-0.5b, r1-1.5b, r1-7b, "
                      "got '" +
                      std::string(shape) + "'"));
  }
  CHECK_THAT(refusal_of([] { Model::synthetic({.type = "Q4"}); }), Catch::Contains("Q4_K_M"));
  const testing::TempFolder folder;
  CHECK_THAT(refusal_of([&] { write_synthetic(folder.file("x"), {.type = "Q4"}); }),
             Catch::Contains("Q4_K_M"));
  CHECK_THAT(refusal_of([&] { write_synthetic(folder.file("x"), {.shape = "x"}); }),
             Catch::Contains("r1-7b"));
  CHECK(folder.listing().empty());
}
