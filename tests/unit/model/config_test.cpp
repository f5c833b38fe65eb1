// Metadata of a model: what is required, what is guessed with a warning, what is refused by name
// (L1, L6).
#include "libr1/model/config.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "libr1/gguf/writer.hpp"
#include "r1/error.hpp"

using namespace r1;

namespace {

using Keys = std::map<std::string, gguf::Value>;

Keys good_keys() {
  return {{"general.architecture", std::string("qwen2")},
          {"qwen2.block_count", std::uint32_t{2}},
          {"qwen2.context_length", std::uint32_t{4096}},
          {"qwen2.embedding_length", std::uint32_t{256}},
          {"qwen2.feed_forward_length", std::uint32_t{512}},
          {"qwen2.attention.head_count", std::uint32_t{4}},
          {"qwen2.attention.head_count_kv", std::uint32_t{2}},
          {"qwen2.rope.freq_base", 10000.0F},
          {"qwen2.attention.layer_norm_rms_epsilon", 1e-5F}};
}

struct Outcome {
  model::Config config;
  std::vector<std::string> warnings;
};

Outcome read(const Keys& keys) {
  gguf::Writer writer;
  for (const auto& [key, value] : keys) writer.add(key, value);
  const auto image = writer.image();
  Outcome outcome;
  outcome.config =
      model::read_config(gguf::Reader::from_memory(image, "test.gguf"),
                         [&](std::string_view line) { outcome.warnings.emplace_back(line); });
  return outcome;
}

std::string error_of(const Keys& keys) {
  try {
    read(keys);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Keys with(const std::string& key, gguf::Value value) {
  Keys keys = good_keys();
  keys[key] = std::move(value);
  return keys;
}

}  // namespace

TEST_CASE("a plain file is read without warnings") {
  const auto [config, warnings] = read(good_keys());
  CHECK(warnings.empty());
  CHECK(config.layers == 2);
  CHECK(config.hidden == 256);
  CHECK(config.head_dim == 64);
  CHECK(config.kv_heads == 2);
  CHECK(config.rope_base == 10000);
  CHECK(config.rms_eps == 1e-5F);
  CHECK(config.trained_context == 4096);
  CHECK(config.sliding_window == 0);
}

TEST_CASE("integers of other widths serve as well") {
  CHECK(read(with("qwen2.block_count", std::uint64_t{7})).config.layers == 7);
  CHECK(read(with("qwen2.block_count", std::int16_t{7})).config.layers == 7);
}

TEST_CASE("a missing rotary base is 1,000,000, said aloud") {
  Keys keys = good_keys();
  keys.erase("qwen2.rope.freq_base");
  const auto [config, warnings] = read(keys);
  CHECK(config.rope_base == 1e6);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("rope.freq_base"));
}

TEST_CASE("YaRN is taken from the file and stretches the context") {
  Keys keys = with("qwen2.rope.scaling.type", std::string("yarn"));
  keys["qwen2.rope.scaling.factor"] = 4.0F;
  keys["qwen2.rope.scaling.original_context_length"] = std::uint32_t{4096};
  const auto config = read(keys).config;
  CHECK(config.rope_scaling.kind == model::RopeScaling::Kind::yarn);
  CHECK(config.rope_scaling.factor == 4);
  CHECK(config.trained_context == 16384);
}

TEST_CASE("a scaling factor without a kind is linear, said aloud") {
  const auto [config, warnings] = read(with("qwen2.rope.scaling.factor", 4.0F));
  CHECK(config.rope_scaling.kind == model::RopeScaling::Kind::linear);
  CHECK(config.rope_scaling.factor == 4);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("rope.scaling.type"));
  for (const float none : {0.0F, 1.0F}) {
    const auto plain = read(with("qwen2.rope.scaling.factor", none));
    CHECK(plain.config.rope_scaling.kind == model::RopeScaling::Kind::none);
    CHECK(plain.warnings.empty());
  }
}

TEST_CASE("a factor counts for nothing when the kind is none") {
  Keys keys = with("qwen2.rope.scaling.type", std::string("none"));
  keys["qwen2.rope.scaling.factor"] = 4.0F;
  CHECK(read(keys).config.rope_scaling.kind == model::RopeScaling::Kind::none);
}

TEST_CASE("impossible numbers are refused by key") {
  const std::pair<const char*, gguf::Value> bad[] = {
      {"qwen2.block_count", std::uint32_t{0}},
      {"qwen2.attention.head_count", std::uint32_t{0}},
      {"qwen2.attention.head_count", std::uint32_t{3}},
      {"qwen2.attention.head_count_kv", std::uint32_t{0}},
      {"qwen2.attention.head_count_kv", std::uint32_t{3}},
      {"qwen2.attention.key_length", std::uint32_t{40}},
      {"qwen2.attention.value_length", std::uint32_t{128}},
      {"qwen2.rope.dimension_count", std::uint32_t{32}},
      {"qwen2.embedding_length", std::uint32_t{1U << 31}},
      {"qwen2.context_length", std::int32_t{-5}},
      {"qwen2.rope.freq_base", 0.0F},
      {"qwen2.attention.layer_norm_rms_epsilon", -1.0F},
      {"qwen2.block_count", std::string("two")},
  };
  for (const auto& [key, value] : bad) {
    INFO(key);
    const std::string message = error_of(with(key, value));
    CHECK_THAT(message, Catch::Contains(key) && Catch::Contains("test.gguf") &&
                            Catch::Contains("expected") && Catch::Contains("got"));
  }
}

TEST_CASE("what is required is required") {
  for (const char* key : {"qwen2.block_count", "qwen2.context_length", "qwen2.embedding_length",
                          "qwen2.feed_forward_length", "qwen2.attention.head_count"}) {
    Keys keys = good_keys();
    keys.erase(key);
    CHECK_THAT(error_of(keys), Catch::Contains(key));
  }
}

TEST_CASE("another architecture and another scaling are named") {
  CHECK_THAT(error_of(with("general.architecture", std::string("llama"))),
             Catch::Contains("expected qwen2, got 'llama'"));
  CHECK_THAT(error_of(with("qwen2.rope.scaling.type", std::string("longrope"))),
             Catch::Contains("longrope"));
}
