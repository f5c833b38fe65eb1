// Random tiny models of many shapes against the double-precision forward pass (fixture F1; cases
// L5, L6).
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/forward_logits.hpp"
#include "tests/support/random_model.hpp"
#include "tests/support/reference_model.hpp"

namespace {

using namespace r1;
using kernels::WeightType;
using support::RandomModelSpec;
using support::relative_error;

void check(const char* name, const RandomModelSpec& spec, double bound, std::int64_t length = 50) {
  const auto image = support::random_model(spec);
  const Model model = Model::load(image);
  const support::ReferenceModel oracle(gguf::Reader::from_memory(image, name), true);
  const auto tokens = support::random_tokens(length, 256, spec.seed);
  const auto expected = oracle.logits(tokens);
  for (const auto isa : support::available_tiers()) {
    INFO(name << " on " << kernels::isa_name(isa));
    CHECK(relative_error(expected, support::forward_logits(model, tokens, {.isa = isa})) <= bound);
  }
}

}  // namespace

TEST_CASE("float models of many shapes are exact up to the 16-bit KV cache") {
  check("small", {}, 1e-3);
  check("untied", {.tied = false}, 1e-3);
  check("one KV head", {.kv_heads = 1}, 1e-3);
  check("head dim 128, group 6", {.heads = 12, .kv_heads = 2, .head_dim = 128, .tied = false},
        1e-3);
  check("head dim 128, group 7", {.heads = 14, .kv_heads = 2, .head_dim = 128}, 1e-3);
  check("head dim 64, group 7", {.hidden = 896, .heads = 14, .kv_heads = 2}, 1e-3);
  check("base 10000", {.rope_base = 10000}, 1e-3);
  check("YaRN", {.context = 4096, .yarn_factor = 4, .yarn_original_context = 1024}, 1e-3);
  check("YaRN, head dim 128", {.head_dim = 128, .yarn_factor = 4, .yarn_original_context = 32768},
        1e-3);
  check("sliding window", {.sliding_window = 20}, 1e-3);
  check("odd widths", {.hidden = 272, .heads = 4, .kv_heads = 2, .head_dim = 80, .ffn = 208}, 1e-3);
  check("f16 weights", {.type = WeightType::f16}, 1e-3);
  check("bf16 weights", {.type = WeightType::bf16}, 1e-3);
}

TEST_CASE("float models are exact with a float32 KV cache") {
  const auto image = support::random_model({});
  const Model model = Model::load(image);
  const auto tokens = support::random_tokens(50, 256, 3);
  const auto expected =
      support::ReferenceModel(gguf::Reader::from_memory(image, "small")).logits(tokens);
  for (const auto isa : support::available_tiers()) {
    const auto got =
        support::forward_logits(model, tokens, {.isa = isa, .kv_type = kernels::KvType::f32});
    CHECK(relative_error(expected, got) <= 5e-6);
  }
}

TEST_CASE(
    "every stage of every layer is exact on the engine's own inputs, in every type and tier") {
  // Fed with what the engine computed before it, the oracle works on the same activation codes:
  // what is left is float32 rounding.
  for (int type = 0; type < kernels::kWeightTypeCount; ++type) {
    const auto image =
        support::random_model({.type = static_cast<WeightType>(type), .tied = false});
    const Model model = Model::load(image);
    const support::ReferenceModel oracle(gguf::Reader::from_memory(image, "random"), true);
    const auto tokens = support::random_tokens(50, 256, 1);
    for (const auto isa : support::available_tiers()) {
      INFO(kernels::format_info(static_cast<WeightType>(type)).name << " on "
                                                                    << kernels::isa_name(isa));
      const support::ForwardSettings exact_cache{.isa = isa, .kv_type = kernels::KvType::f32};
      CHECK(support::worst_stage_error(oracle,
                                       support::forward_trace(model, tokens, exact_cache)) <= 1e-5);
    }
  }
}

TEST_CASE("positions up to 100 and beyond are exact with any base and with YaRN") {
  check("base 1,000,000", {}, 1e-3, 120);
  check("base 10,000", {.rope_base = 10000}, 1e-3, 120);
  check("YaRN", {.context = 4096, .yarn_factor = 4, .yarn_original_context = 1024}, 1e-3, 120);
  check("YaRN, head dim 128", {.head_dim = 128, .yarn_factor = 4, .yarn_original_context = 32768},
        1e-3, 120);
}

TEST_CASE("biases that decide the best token are applied") {
  // The two differ in nothing but the biases of q, k and v.
  const auto without = support::random_model({.tied = false, .bias = 0});
  const auto with = support::random_model({.tied = false, .bias = 3});
  const auto tokens = support::random_tokens(50, 256, 12);
  const auto oracle = [&](const std::vector<std::byte>& image) {
    return support::ReferenceModel(gguf::Reader::from_memory(image, "biases"), true).logits(tokens);
  };
  const auto best = [](const auto& row) {
    return std::max_element(row.begin(), row.end()) - row.begin();
  };
  const auto unbiased = oracle(without);
  const auto biased = oracle(with);
  int changed = 0;
  for (std::size_t t = 0; t < biased.size(); ++t)
    changed += best(biased[t]) != best(unbiased[t]) ? 1 : 0;
  REQUIRE(changed > 25);
  const Model model = Model::load(with);
  for (const auto isa : support::available_tiers()) {
    INFO(kernels::isa_name(isa));
    const auto got = support::forward_logits(model, tokens, {.isa = isa});
    CHECK(relative_error(biased, got) <= 1e-3);
    for (std::size_t t = 0; t < biased.size(); ++t) CHECK(best(got[t]) == best(biased[t]));
  }
}

TEST_CASE("position 40,000 is as exact as position 0") {
  // A sliding window of 24 over 2 layers lets the oracle start 46 tokens before the end.
  const RandomModelSpec spec{.context = 65536, .sliding_window = 24};
  const auto image = support::random_model(spec);
  const Model model = Model::load(image);
  const auto tokens = support::random_tokens(40'050, 256, 5);
  const std::int64_t start = 40'050 - 100;
  const auto expected =
      support::ReferenceModel(gguf::Reader::from_memory(image, "far"))
          .logits(std::span(tokens).subspan(static_cast<std::size_t>(start)), start);
  const auto got = support::forward_logits(model, tokens);
  const support::ReferenceModel::Rows expected_end(expected.end() - 40, expected.end());
  const std::vector<std::vector<float>> got_end(got.end() - 40, got.end());
  CHECK(relative_error(expected_end, got_end) <= 1e-3);
}

TEST_CASE("a row's bits depend neither on chunks and threads, nor on what else is in the step") {
  for (const auto type : {WeightType::f32, WeightType::q4_k, WeightType::q6_k, WeightType::q8_0}) {
    const Model model = Model::load(support::random_model({.type = type}));
    const auto tokens = support::random_tokens(52, 256, 9);
    for (const auto isa : support::available_tiers()) {
      const auto whole = support::forward_logits(model, tokens, {.isa = isa});
      for (const std::int64_t chunk : {1, 7, 16, 17, 512}) {
        for (const int threads : {1, 2, 3}) {
          for (const int others : {0, 7}) {
            for (const std::int64_t prefix : {0, 21}) {
              INFO(kernels::format_info(type).name
                   << ", " << kernels::isa_name(isa) << ", chunk " << chunk << ", threads "
                   << threads << ", beside " << others << ", prefix " << prefix);
              CHECK(support::forward_logits(model, tokens,
                                            {.isa = isa,
                                             .threads = threads,
                                             .chunk = chunk,
                                             .prefix = prefix,
                                             .others = others}) == whole);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("a row's bits do not depend on chunks, threads or others with a q8 KV cache either") {
  const Model model = Model::load(support::random_model({.outlier_key_bias = 100}));
  const auto tokens = support::random_tokens(52, 256, 9);
  const auto run = [&](support::ForwardSettings settings) {
    settings.kv_type = kernels::KvType::q8;
    return support::forward_logits(model, tokens, settings);
  };
  for (const auto isa : support::available_tiers()) {
    const auto whole = run({.isa = isa});
    CHECK(whole != support::forward_logits(model, tokens, {.isa = isa}));
    for (const std::int64_t chunk : {1, 7, 16, 17}) {
      for (const int threads : {1, 2}) {
        for (const int others : {0, 7}) {
          INFO(kernels::isa_name(isa)
               << ", chunk " << chunk << ", threads " << threads << ", beside " << others);
          CHECK(run({.isa = isa, .threads = threads, .chunk = chunk, .others = others}) == whole);
        }
      }
    }
  }
}
