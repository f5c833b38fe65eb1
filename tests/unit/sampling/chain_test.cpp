// Chain against a naive sampler in double that sorts everything, and the cases G1, G2, G4 and G5.
#include "libr1/sampling/chain.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <random>
#include <vector>

#include "r1/error.hpp"

using r1::TokenId;
using r1::sampling::Chain;
using r1::sampling::Choice;
using r1::sampling::Params;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::atomic<std::int64_t> allocations{0};

std::shared_ptr<const std::vector<bool>> all(std::size_t vocab) {
  return std::make_shared<const std::vector<bool>>(vocab, true);
}

Choice choose(const Params& params, const std::vector<float>& logits,
              const std::vector<TokenId>& history = {}) {
  return Chain(params, all(logits.size())).choose(logits, history);
}

Params params_of(float temperature, std::uint64_t seed = 1) {
  Params params;
  params.temperature = temperature;
  params.seed = seed;
  return params;
}

// The documented meaning, step by step: what stays, most likely first, with probabilities.
std::vector<std::pair<TokenId, double>> naive_distribution(const Params& params,
                                                           std::vector<float> logits,
                                                           const std::vector<TokenId>& history,
                                                           const std::vector<bool>& samplable) {
  for (const auto& [id, bias] : params.logit_bias) logits[static_cast<std::size_t>(id)] += bias;
  std::map<TokenId, int> counts;
  const std::size_t window =
      params.repeat_last_n < 0 ? history.size() : static_cast<std::size_t>(params.repeat_last_n);
  for (std::size_t i = history.size() - std::min(window, history.size()); i < history.size(); ++i) {
    if (history[i] >= 0 && static_cast<std::size_t>(history[i]) < logits.size())
      ++counts[history[i]];
  }
  for (const auto& [id, count] : counts) {
    float& logit = logits[static_cast<std::size_t>(id)];
    double x = double{logit};
    x = x > 0 ? x / double{params.repeat_penalty} : x * double{params.repeat_penalty};
    x -= count * double{params.frequency_penalty};
    x -= double{params.presence_penalty};
    logit = static_cast<float>(x);
  }
  std::vector<std::pair<TokenId, double>> tokens;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    if (samplable[id]) tokens.emplace_back(static_cast<TokenId>(id), double{logits[id]});
  }
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](auto& a, auto& b) { return a.second > b.second; });
  const double max = tokens[0].second;
  if (params.temperature == 0) return {{tokens[0].first, 1.0}};
  for (auto& token : tokens)
    token.second = std::exp((token.second - max) / double{params.temperature});
  const auto sum = [&] {
    return std::accumulate(tokens.begin(), tokens.end(), 0.0,
                           [](double a, auto& b) { return a + b.second; });
  };
  if (params.top_k > 0)
    tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(params.top_k)));
  if (params.top_p < 1) {
    const double needed = double{params.top_p} * sum();
    double mass = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      mass += tokens[i].second;
      if (mass >= needed) {
        tokens.resize(i + 1);
        break;
      }
    }
  }
  if (params.min_p > 0) {
    const auto low = [&](auto& token) { return token.second < double{params.min_p}; };
    tokens.erase(std::find_if(tokens.begin(), tokens.end(), low), tokens.end());
  }
  const double total = sum();
  for (auto& token : tokens) token.second /= total;
  return tokens;
}

TokenId naive_draw(const std::vector<std::pair<TokenId, double>>& tokens, double uniform) {
  double mass = 0;
  for (const auto& token : tokens) {
    mass += token.second;
    if (uniform < mass) return token.first;
  }
  return tokens.back().first;
}

// One random set of logits, of a shape picked by `kind`.
std::vector<float> random_logits(std::mt19937_64& random, std::size_t vocab, int kind) {
  std::normal_distribution<float> normal(0, kind == 0   ? 0.05F
                                            : kind == 1 ? 1.0F
                                            : kind == 2 ? 3.0F
                                                        : 10.0F);
  std::vector<float> logits(vocab);
  for (float& logit : logits) logit = normal(random);
  if (kind == 4) {
    for (float& logit : logits) logit = std::round(logit / 8);  // many ties, zeros of both signs
  }
  if (kind == 5) {
    for (float& logit : logits) logit = random() % 3 == 0 ? -kInfinity : logit;
    logits[random() % vocab] = 30;
  }
  return logits;
}

Params random_params(std::mt19937_64& random, std::size_t vocab) {
  const auto uniform = [&](float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  };
  Params params;
  const float temperatures[] = {0, 0.1F, 0.6F, 1, 2.5F, 100};
  params.temperature = temperatures[random() % 6];
  if (random() % 2 == 0) params.top_k = 1 + static_cast<std::int64_t>(random() % (vocab + 2));
  if (random() % 3 == 0) params.top_k = 1 + static_cast<std::int64_t>(random() % 50);
  if (random() % 2 == 0) params.top_p = uniform(0, 1);
  if (random() % 3 == 0) params.min_p = std::pow(uniform(0, 1), 3.0F);
  if (random() % 2 == 0) {
    params.repeat_penalty = uniform(0.5F, 2);
    params.frequency_penalty = uniform(-1, 1);
    params.presence_penalty = uniform(-2, 2);
  }
  const std::int64_t windows[] = {0, 1, 8, 64, -1};
  params.repeat_last_n = windows[random() % 5];
  for (std::uint64_t i = random() % 4; i > 0; --i) {
    params.logit_bias.emplace_back(static_cast<TokenId>(random() % vocab), uniform(-5, 5));
  }
  params.seed = random();
  return params;
}

void compare_with_naive(std::mt19937_64& random, std::size_t vocab, int kind, int draws) {
  const Params params = random_params(random, vocab);
  std::vector<bool> samplable(vocab, true);
  if (random() % 2 == 0) {
    for (std::size_t id = 0; id < vocab; ++id) samplable[id] = random() % 5 != 0;
    samplable[random() % vocab] = true;
  }
  Chain chain(params, std::make_shared<const std::vector<bool>>(samplable));
  r1::sampling::Random uniforms(params.seed);
  std::vector<TokenId> history;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<float> logits = random_logits(random, vocab, kind);
    // A sampler that reads where it must not would choose one of these, or report them.
    for (std::size_t id = 0; id < vocab; ++id) {
      if (!samplable[id]) logits[id] = random() % 2 == 0 ? 1e30F : kNan;
    }
    if (kind == 5 && std::none_of(logits.begin(), logits.end(), [&](float& x) {
          return samplable[static_cast<std::size_t>(&x - logits.data())] && std::isfinite(x);
        })) {
      continue;
    }
    const std::vector<float> before = logits;
    const auto tokens = naive_distribution(params, logits, history, samplable);
    const double uniform =
        params.temperature == 0 ? 0 : std::ldexp(static_cast<double>(uniforms.next53()), -53);
    const Choice choice = chain.choose(logits, history);
    INFO("vocab " << vocab << " kind " << kind << " T " << params.temperature << " k "
                  << params.top_k << " p " << params.top_p << " min_p " << params.min_p << " seed "
                  << params.seed << " draw " << draw);
    REQUIRE(choice.finite);
    REQUIRE(choice.id == naive_draw(tokens, uniform));
    REQUIRE(std::equal(before.begin(), before.end(), logits.begin(),
                       [](float a, float b) { return a == b || std::isnan(a); }));
    history.push_back(choice.id);
    if (random() % 4 == 0) history.push_back(static_cast<TokenId>(random() % vocab));
    if (random() % 9 == 0) history.push_back(random() % 2 == 0 ? -1 : static_cast<TokenId>(vocab));
  }
}

// Chi-square of 10,000 draws against probabilities; bins with fewer than 5 expected are joined.
void check_frequencies(const Params& params, const std::vector<float>& logits) {
  constexpr int kDraws = 10000;
  const auto tokens =
      naive_distribution(params, logits, {}, std::vector<bool>(logits.size(), true));
  Chain chain(params, all(logits.size()));
  std::map<TokenId, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[chain.choose(logits, {}).id];
  double chi_square = 0;
  double rest_expected = 0;
  double rest_seen = 0;
  int bins = 0;
  int seen = 0;
  for (const auto& [id, probability] : tokens) {
    const double expected = probability * kDraws;
    seen += counts[id];
    if (expected < 5) {
      rest_expected += expected;
      rest_seen += counts[id];
      continue;
    }
    chi_square += (counts[id] - expected) * (counts[id] - expected) / expected;
    ++bins;
  }
  if (rest_expected >= 5) {
    chi_square += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
    ++bins;
  }
  CHECK(seen == kDraws);  // nothing outside the kept set was drawn
  const double freedom = bins - 1;
  // Wilson-Hilferty: the 99.9 % point of chi-square.
  const double point =
      freedom * std::pow(1 - 2 / (9 * freedom) + 3.09 * std::sqrt(2 / (9 * freedom)), 3.0);
  CHECK(chi_square < point);
}

}  // namespace

// The array forms and the others come down to these. Not inlined, or GCC sees malloc meet operator
// delete and warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("equal to a naive sampler: small vocabularies") {
  std::mt19937_64 random(20240601);
  for (int round = 0; round < 1500; ++round) {
    const std::size_t sizes[] = {1, 2, 3, 10, 255, 256, 257, 700};
    compare_with_naive(random, sizes[round % 8], round % 6, 4);
  }
}

TEST_CASE("equal to a naive sampler: large vocabularies") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round)
    compare_with_naive(random, 5000 + random() % 30000, round % 6, 2);
}

TEST_CASE("temperature at its edges (case G1)") {
  const std::vector<float> logits = {0, 100, 99};
  for (const float temperature : {0.0F, 1e-30F, 9.9e-6F, 1e-4F}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      CHECK(choose(params_of(temperature, seed), logits).id == 1);
    }
  }
  for (const float temperature : {1e30F, -1.0F, kNan, kInfinity}) {
    r1::SamplingOptions options;
    options.temperature = temperature;
    CHECK_THROWS_AS(r1::sampling::make_params(options, 3), r1::Error);
  }
  // The hottest that is allowed: e^-1 and e^-0.01 of the largest.
  Chain hot(params_of(100), all(3));
  int counts[3] = {};
  for (int i = 0; i < 10000; ++i) ++counts[hot.choose(logits, {}).id];
  CHECK(counts[0] == Approx(10000 * 0.15602).margin(150));  // e^-1 / (e^-1 + 1 + e^-0.01)
  CHECK(counts[2] == Approx(10000 * 0.41988).margin(200));
}

TEST_CASE("greedy takes the lowest id on a tie") {
  for (const float temperature : {0.0F, 1e-6F}) {
    const Params params = params_of(temperature);
    CHECK(choose(params, {1, 3, 3, 2, 3}).id == 1);
    CHECK(choose(params, {-0.0F, 0.0F, -0.0F}).id == 0);
    CHECK(choose(params, {-1, -0.0F, 0.0F}).id == 1);
    CHECK(choose(params, std::vector<float>(1000, -5)).id == 0);
    std::vector<float> late(1000, -5);
    late[255] = late[256] = late[999] = 4;
    CHECK(choose(params, late).id == 255);
    CHECK(choose(params, {-kInfinity, -1e38F, -kInfinity}).id == 1);
  }
}

TEST_CASE("logits that are not numbers are reported, never drawn (case G1)") {
  for (const float temperature : {0.0F, 0.6F}) {
    for (const std::size_t vocab : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
      const Params params = params_of(temperature);
      for (const float bad : {kNan, -kNan, kInfinity}) {
        for (const std::size_t at : {std::size_t{0}, vocab / 2, vocab - 1}) {
          std::vector<float> logits(vocab, 1);
          logits[at] = bad;
          const Choice choice = choose(params, logits);
          CHECK(choice.id == -1);
          CHECK(!choice.finite);
        }
      }
      const Choice none = choose(params, std::vector<float>(vocab, -kInfinity));
      CHECK(none.id == -1);
      CHECK(!none.finite);
    }
    // A bias or a penalty on the bad token hides nothing.
    Params params = params_of(temperature);
    params.logit_bias = {{1, -1e30F}};
    params.repeat_penalty = 2;
    CHECK(!choose(params, {0, kNan, 1}, {1}).finite);
    CHECK(!choose(params, {0, kInfinity, 1}, {1}).finite);
  }
}

TEST_CASE("the chain goes on after a bad set of logits") {
  Chain chain(params_of(0.6F), all(3));
  CHECK(!chain.choose(std::vector<float>{0, kNan, 0}, {}).finite);
  CHECK(chain.choose(std::vector<float>{0, 90, 0}, {}).id == 1);
}

TEST_CASE("ids that may not be chosen are not, and their logits do not matter (case G2)") {
  auto samplable = std::make_shared<std::vector<bool>>(1000, true);
  for (std::size_t id = 700; id < 1000; ++id) (*samplable)[id] = false;
  (*samplable)[0] = false;
  for (const float junk : {1e30F, kNan, kInfinity, -kInfinity}) {
    for (const float temperature : {0.0F, 1.0F}) {
      Params params = params_of(temperature);
      params.logit_bias = {{0, 1e30F}, {999, 1e30F}};
      params.repeat_penalty = 0.01F;
      Chain chain(params, samplable);
      std::vector<float> logits(1000, 1);
      for (std::size_t id = 0; id < 1000; ++id) logits[id] = (*samplable)[id] ? 1 : junk;
      for (int draw = 0; draw < 200; ++draw) {
        const Choice choice = chain.choose(logits, std::vector<TokenId>{0, 999});
        REQUIRE(choice.finite);
        REQUIRE(choice.id >= 1);
        REQUIRE(choice.id < 700);
      }
    }
  }
  const auto nothing = std::make_shared<const std::vector<bool>>(5, false);
  CHECK(!Chain(params_of(1), nothing).choose(std::vector<float>(5, 1), {}).finite);
  CHECK(!Chain(params_of(1), all(0)).choose({}, {}).finite);
}

TEST_CASE("temperature comes before top-p (case G5)") {
  Params params = params_of(0.25F, 42);
  params.top_p = 0.7F;
  Chain chain(params, all(3));
  const std::vector<float> logits = {2.0F, 1.6F, 0.2F};
  for (int draw = 0; draw < 10000; ++draw) REQUIRE(chain.choose(logits, {}).id == 0);
  // Just above the first token's share of 0.8315 the second one comes in, about 16.8 % of the time.
  params.top_p = 0.84F;
  Chain wider(params, all(3));
  int counts[3] = {};
  for (int draw = 0; draw < 10000; ++draw) ++counts[wider.choose(logits, {}).id];
  CHECK(counts[2] == 0);
  CHECK(counts[1] == Approx(1680).margin(150));
}

TEST_CASE("top_p 0 and top_k 1 keep one token, ties by id") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Params params = params_of(1, seed);
    params.top_p = 0;
    CHECK(choose(params, {1, 2, 2, 0}).id == 1);
    params.top_p = 1e-9F;
    CHECK(choose(params, {1, 2, 2, 0}).id == 1);
    params.top_p = 1;
    params.top_k = 1;
    CHECK(choose(params, {1, 2, 2, 0}).id == 1);
    params.top_k = 0;
    params.min_p = 1;
    const TokenId id = choose(params, {1, 2, 2, 0}).id;
    CHECK((id == 1 || id == 2));
  }
}

TEST_CASE("a ban by a large negative bias holds, a large positive one forces") {
  for (const float temperature : {0.0F, 1.0F, 100.0F}) {
    Params params = params_of(temperature);
    params.logit_bias = {{1, -1e30F}};
    CHECK(choose(params, {0, 50}).id == 0);
    params.logit_bias = {{0, 1e30F}};
    CHECK(choose(params, {-50, 50, 50}).id == 0);
    // Everything banned alike: still a choice, not an error.
    params.logit_bias = {{0, -1e30F}, {1, -1e30F}};
    CHECK(choose(params, {0, 50}).finite);
    // Finite values never overflow into "not a number".
    params.logit_bias = {{0, 1e30F}};
    params.repeat_penalty = 0.001F;
    CHECK(choose(params, {3.4e38F, 1}, {0}).finite);
    params.repeat_penalty = 100;
    CHECK(choose(params, {-3.4e38F, 1}, {0}).id == 1);
  }
}

TEST_CASE("penalties: the published rules on numbers worked out by hand") {
  Params params;
  params.repeat_penalty = 2;
  // 3 / 2 < 2: the repeated token loses; -1 * 2 < -1.5: a negative one loses too.
  CHECK(choose(params, {3, 2}).id == 0);
  CHECK(choose(params, {3, 2}, {0}).id == 1);
  CHECK(choose(params, {-1, -1.5F}, {0}).id == 1);
  // Once, however often it came.
  CHECK(choose(params, {5, 2}, {0, 0, 0}).id == 0);
  params.repeat_penalty = 1;
  params.frequency_penalty = 1;
  CHECK(choose(params, {3.5F, 1}, {0, 0}).id == 0);
  CHECK(choose(params, {3.5F, 1}, {0, 0, 0}).id == 1);
  params.frequency_penalty = 0;
  params.presence_penalty = 2;
  CHECK(choose(params, {2.5F, 1}, {0, 0, 0}).id == 1);
  CHECK(choose(params, {3.5F, 1}, {0, 0, 0}).id == 0);
  // The window: the last n of the history, -1 all, 0 none.
  params.repeat_last_n = 2;
  CHECK(choose(params, {2.5F, 1, 0}, {0, 2, 2}).id == 0);
  CHECK(choose(params, {2.5F, 1, 0}, {0, 2}).id == 1);
  params.repeat_last_n = -1;
  CHECK(choose(params, {2.5F, 1, 0}, {0, 2, 2}).id == 1);
  params.repeat_last_n = 0;
  CHECK(choose(params, {2.5F, 1, 0}, {0}).id == 0);
}

TEST_CASE("draws follow the distribution") {
  const std::vector<float> logits = {1.0F, 2.0F, 0.5F, -1.0F, 3.0F, 2.9F, 0.0F, -3.0F};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Params params = params_of(1, seed);
    check_frequencies(params, logits);
    params.top_p = 0.9F;
    check_frequencies(params, logits);
    params = params_of(0.6F, seed);
    params.top_k = 4;
    check_frequencies(params, logits);
    params = params_of(1.5F, seed);
    params.min_p = 0.2F;
    check_frequencies(params, logits);
  }
  std::mt19937_64 random(11);
  Params params = params_of(0.6F, 5);
  params.top_p = 0.95F;
  check_frequencies(params, random_logits(random, 2000, 2));
}

TEST_CASE("the same seed gives the same tokens, another seed others (case G4)") {
  std::mt19937_64 random(3);
  const std::vector<float> logits = random_logits(random, 1000, 1);
  const auto draw = [&](std::uint64_t seed) {
    Chain chain(params_of(0.8F, seed), all(1000));
    std::vector<TokenId> ids;
    for (int i = 0; i < 64; ++i) ids.push_back(chain.choose(logits, {}).id);
    return ids;
  };
  const std::uint64_t seeds[] = {1, 0xFFFFFFFF, std::uint64_t{1} << 32,
                                 (std::uint64_t{1} << 63) - 1};
  for (const std::uint64_t seed : seeds) {
    CHECK(draw(seed) == draw(seed));
    for (const std::uint64_t other : seeds) {
      if (seed != other) CHECK(draw(seed) != draw(other));
    }
  }
}

TEST_CASE("choose() allocates nothing") {
  std::mt19937_64 random(5);
  for (int kind = 0; kind < 6; ++kind) {
    for (int round = 0; round < 10; ++round) {
      Params params = random_params(random, 20000);
      const std::vector<float> logits = random_logits(random, 20000, kind);
      std::vector<TokenId> history(300);
      for (TokenId& id : history) id = static_cast<TokenId>(random() % 20000);
      Chain chain(params, all(20000));
      const std::int64_t before = allocations;
      chain.choose(logits, history);
      const std::int64_t after = allocations;
      CHECK(after == before);
    }
  }
}
