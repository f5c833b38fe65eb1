// Loading whole models: tensors that are missing, superfluous or of the wrong shape (case L5),
// memory, defaults.
#include <algorithm>
#include <catch2/catch.hpp>

#include "libr1/model/loaded_model.hpp"
#include "r1/error.hpp"
#include "tests/support/edited_model.hpp"
#include "tests/support/random_model.hpp"

using namespace r1;

namespace {

std::string error_of(const std::vector<std::byte>& image) {
  try {
    Model::load(image);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("every tensor of the architecture is needed") {
  const auto image = support::random_model({});
  for (const char* name : {"token_embd.weight", "output_norm.weight", "blk.1.attn_q.weight",
                           "blk.0.attn_k.bias", "blk.1.attn_v.bias", "blk.0.attn_q.bias",
                           "blk.1.ffn_down.weight", "blk.0.attn_norm.weight"}) {
    CHECK_THAT(error_of(support::edited_model(image, {.drop = name})), Catch::Contains(name));
  }
}

TEST_CASE("a wrong shape is told with both shapes") {
  CHECK_THAT(error_of(support::edited_model(support::random_model({}),
                                            {.reshape = "blk.1.ffn_up.weight"})),
             Catch::Contains("blk.1.ffn_up.weight: expected [256, 512], got [128, 1024]"));
}

TEST_CASE("a tensor that nobody needs is a warning") {
  std::vector<std::string> warnings;
  Model::load(support::edited_model(support::random_model({}), {.extra = true}),
              {.on_warning = [&](std::string_view line) { warnings.emplace_back(line); }});
  REQUIRE(warnings.size() == 2);  // the other one: no chat template
  CHECK_THAT(warnings[0] + warnings[1], Catch::Contains("blk.0.surprise"));
}

TEST_CASE("a tied output matrix is stored once, an own one is used") {
  const Model tied = Model::load(support::random_model({}));
  const Model untied = Model::load(support::random_model({.tied = false}));
  CHECK(tied.impl().weights.output.panels == tied.impl().weights.embedding.panels);
  CHECK(untied.impl().weights.output.panels != untied.impl().weights.embedding.panels);
  CHECK(untied.info().packed_bytes == tied.info().packed_bytes + 320 * 256 * 4);
}

TEST_CASE("more token names than embedding rows are refused, padding rows are never sampled") {
  const auto image = support::random_model({.family = support::Family::qwen});
  const Model model = Model::load(image);
  CHECK((*model.impl().samplable)[static_cast<std::size_t>('a')]);
  CHECK_FALSE((*model.impl().samplable)[319]);
  std::vector<std::string> tokens(400);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = "t" + std::to_string(i);
  CHECK_THAT(
      error_of(support::edited_model(
          image, {.keys = {{"tokenizer.ggml.tokens", tokens},
                           {"tokenizer.ggml.token_type", std::vector<std::int32_t>(400, 1)}}})),
      Catch::Contains("token_embd.weight") && Catch::Contains("400") && Catch::Contains("320"));
}

TEST_CASE("sampling defaults: flag, then file, then family") {
  const auto qwen = support::random_model({});
  const auto r1_image = support::random_model({.family = support::Family::r1});
  const SamplingOptions of_qwen = Model::load(qwen).resolve({});
  CHECK(*of_qwen.temperature == 0.7F);
  CHECK(*of_qwen.top_p == 0.8F);
  CHECK(*of_qwen.top_k == 20);
  CHECK(*of_qwen.repeat_penalty == 1.05F);
  const SamplingOptions of_r1 = Model::load(r1_image).resolve({});
  CHECK(*of_r1.temperature == 0.6F);
  CHECK(*of_r1.top_p == 0.95F);
  CHECK(*of_r1.top_k == 0);
  CHECK(*of_r1.repeat_penalty == 1.0F);
  const Model stated = Model::load(support::edited_model(
      r1_image,
      {.keys = {{"general.sampling.temp", 0.0F}, {"general.sampling.top_k", std::int32_t{7}}}}));
  CHECK(*stated.resolve({}).temperature == 0.0F);
  CHECK(*stated.resolve({}).top_k == 7);
  CHECK(*stated.resolve({}).top_p == 0.95F);
  CHECK(*stated.resolve({.temperature = 1.5F}).temperature == 1.5F);
}

TEST_CASE("a model's name is one printable line") {
  const auto image = support::random_model({});
  const auto name_of = [&](const std::string& name) {
    return Model::load(support::edited_model(image, {.keys = {{"general.name", name}}}))
        .info()
        .name;
  };
  CHECK(name_of("鸡兔 1.5B") == "鸡兔 1.5B");
  CHECK(name_of("a\n\x1b]0;b\a") == "a\\x0a\\x1b]0;b\\x07");
}

TEST_CASE("packing does not depend on the number of threads") {
  const auto image = support::random_model({.type = kernels::WeightType::q4_k});
  const Model one = Model::load(image, {.threads = 1});
  const Model three = Model::load(image, {.threads = 3});
  const auto& a = one.impl().weights.buffer;
  const auto& b = three.impl().weights.buffer;
  REQUIRE(a.size() == b.size());
  CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
}

TEST_CASE("reserved huge pages that are not there are one warning, and the model is the same") {
  const auto image = support::random_model({});
  std::vector<std::string> plain;
  std::vector<std::string> asked;
  const Model normal =
      Model::load(image, {.on_warning = [&](std::string_view line) { plain.emplace_back(line); }});
  const Model huge = Model::load(
      image,
      {.huge_pages = true, .on_warning = [&](std::string_view line) { asked.emplace_back(line); }});
  const auto& buffer = huge.impl().weights.buffer;
  CHECK(std::equal(buffer.data(), buffer.data() + buffer.size(),
                   normal.impl().weights.buffer.data(),
                   normal.impl().weights.buffer.data() + normal.impl().weights.buffer.size()));
  if (buffer.pages() == base::Pages::advised) {
    REQUIRE(asked.size() == plain.size() + 1);
    CHECK_THAT(asked.back(), Catch::StartsWith("huge pages: expected "));
    asked.pop_back();
  }
  CHECK(asked == plain);
}
