// make_params: every field, its edges, and errors that name it (cases G1, G2).
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "libr1/sampling/chain.hpp"
#include "r1/error.hpp"

using r1::SamplingOptions;
using r1::sampling::make_params;
using r1::sampling::Params;

namespace {

constexpr std::int64_t kVocab = 151936;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The message, or "" when the options are accepted.
std::string complaint(const SamplingOptions& options) {
  try {
    make_params(options, kVocab);
    return "";
  } catch (const r1::Error& error) {
    CHECK(error.code() == r1::ErrorCode::invalid_argument);
    return error.what();
  }
}

struct FloatField {
  const char* name;
  std::optional<float> SamplingOptions::*option;
  float Params::*param;
  float low;
  float high;
  bool low_is_in;
};

constexpr FloatField kFloatFields[] = {
    {"temperature", &SamplingOptions::temperature, &Params::temperature, 0, 100, true},
    {"top_p", &SamplingOptions::top_p, &Params::top_p, 0, 1, true},
    {"min_p", &SamplingOptions::min_p, &Params::min_p, 0, 1, true},
    {"repeat_penalty", &SamplingOptions::repeat_penalty, &Params::repeat_penalty, 0, 100, false},
    {"frequency_penalty", &SamplingOptions::frequency_penalty, &Params::frequency_penalty, -100,
     100, true},
    {"presence_penalty", &SamplingOptions::presence_penalty, &Params::presence_penalty, -100, 100,
     true},
};

}  // namespace

TEST_CASE("float fields take their range and nothing else") {
  for (const FloatField& field : kFloatFields) {
    INFO(field.name);
    const auto with = [&](float value) {
      SamplingOptions options;
      options.*field.option = value;
      return options;
    };
    const float middle = field.low + (field.high - field.low) / 3;
    for (const float good : {middle, field.high, std::nextafter(field.low, field.high)}) {
      CHECK(make_params(with(good), kVocab).*field.param == good);
    }
    if (field.low_is_in) CHECK(make_params(with(field.low), kVocab).*field.param == field.low);
    for (const float bad :
         {std::nextafter(field.low, -kInfinity), std::nextafter(field.high, kInfinity), kNan, -kNan,
          kInfinity, -kInfinity, 1e30F, -1e30F}) {
      INFO(bad);
      CHECK_THAT(complaint(with(bad)),
                 Catch::StartsWith(std::string(field.name) + ": expected a number "));
    }
    if (!field.low_is_in) CHECK(!complaint(with(field.low)).empty());
  }
}

TEST_CASE("messages say what, expected and got in one line") {
  SamplingOptions options;
  options.temperature = -1.0F;
  CHECK(complaint(options) == "temperature: expected a number from 0 to 100, got -1");
  options.temperature = kNan;
  CHECK(complaint(options) == "temperature: expected a number from 0 to 100, got nan");
  options = {};
  options.top_p = 1.5F;
  CHECK(complaint(options) == "top_p: expected a number from 0 to 1, got 1.5");
  options = {};
  options.min_p = 2.0F;
  CHECK(complaint(options) == "min_p: expected a number from 0 to 1, got 2");
  options = {};
  options.repeat_penalty = 0.0F;
  CHECK(complaint(options) == "repeat_penalty: expected a number above 0, up to 100, got 0");
  options = {};
  options.repeat_last_n = -2;
  CHECK(complaint(options) == "repeat_last_n: expected -1 (all) or a number of tokens, got -2");
}

TEST_CASE("any top_k is taken; none, all and more mean off") {
  for (const std::int64_t off :
       {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{0}, kVocab,
        kVocab + 1, std::int64_t{1} << 31, std::numeric_limits<std::int64_t>::max()}) {
    SamplingOptions options;
    options.top_k = off;
    CHECK(make_params(options, kVocab).top_k == 0);
  }
  for (const std::int64_t on : {std::int64_t{1}, std::int64_t{40}, kVocab - 1}) {
    SamplingOptions options;
    options.top_k = on;
    CHECK(make_params(options, kVocab).top_k == on);
  }
}

TEST_CASE("logit bias: ids of the vocabulary, finite values up to 1e30") {
  const auto with = [](r1::TokenId id, float bias) {
    SamplingOptions options;
    options.logit_bias = {{5, 1.0F}, {id, bias}};
    return options;
  };
  for (const r1::TokenId id :
       {-1, 151936, 1000000000, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    CHECK(complaint(with(id, 1)) ==
          "logit_bias: expected token ids from 0 to 151935, got " + std::to_string(id));
  }
  for (const r1::TokenId id : {0, 151935}) CHECK(complaint(with(id, 1)).empty());
  for (const float bias : {1e30F, -1e30F, 0.0F}) CHECK(complaint(with(7, bias)).empty());
  for (const float bias : {1.1e30F, -1.1e30F, kInfinity, -kInfinity, kNan}) {
    CHECK_THAT(complaint(with(7, bias)),
               Catch::StartsWith("logit_bias of token 7: expected a number from "));
  }
  CHECK(make_params(with(7, 2), kVocab).logit_bias ==
        std::vector<std::pair<r1::TokenId, float>>{{5, 1.0F}, {7, 2.0F}});
}

TEST_CASE("a given seed is kept as it is, an empty one is drawn each time (case G4)") {
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xFFFFFFFF}, std::uint64_t{1} << 32,
        (std::uint64_t{1} << 63) - 1, ~std::uint64_t{0}}) {
    SamplingOptions options;
    options.seed = seed;
    CHECK(make_params(options, kVocab).seed == seed);
  }
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 20; ++i) drawn.insert(make_params({}, kVocab).seed);
  CHECK(drawn.size() == 20);
}

TEST_CASE("empty options are greedy with everything off") {
  const Params params = make_params({}, kVocab);
  CHECK(params.temperature == 0);
  CHECK(params.top_k == 0);
  CHECK(params.top_p == 1);
  CHECK(params.min_p == 0);
  CHECK(params.repeat_penalty == 1);
  CHECK(params.frequency_penalty == 0);
  CHECK(params.presence_penalty == 0);
  CHECK(params.repeat_last_n == 64);
}
