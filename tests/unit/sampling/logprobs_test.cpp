// Log-probabilities against long double and a full sort (case G7).
#include "libr1/sampling/logprobs.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "r1/error.hpp"

using r1::TokenId;
using r1::sampling::Logprobs;

TEST_CASE("logprobs: log-softmax of the raw logits, most likely first, ties by id (G7)") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t vocab = 1 + random() % 700;
    auto samplable = std::make_shared<std::vector<bool>>(vocab, true);
    for (std::size_t id = 0; id < vocab; ++id) (*samplable)[id] = random() % 4 != 0;
    const std::size_t chosen = random() % vocab;
    (*samplable)[chosen] = true;
    std::vector<float> logits(vocab);
    for (float& logit : logits) {
      logit = std::normal_distribution<float>(0, round % 3 == 0 ? 0.1F : 20.0F)(random);
      if (round % 2 == 0) logit = std::round(logit);
    }
    std::vector<TokenId> order;
    for (std::size_t id = 0; id < vocab; ++id) {
      if ((*samplable)[id]) order.push_back(static_cast<TokenId>(id));
      if (!(*samplable)[id]) logits[id] = 1e30F;  // has no part in it
    }
    const auto logit = [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](TokenId a, TokenId b) { return logit(a) > logit(b); });
    long double sum = 0;
    for (const TokenId id : order) {
      sum +=
          std::exp(static_cast<long double>(logit(id)) - static_cast<long double>(logit(order[0])));
    }
    const auto expected = [&](TokenId id) {
      return static_cast<double>(static_cast<long double>(logit(id)) -
                                 static_cast<long double>(logit(order[0])) - std::log(sum));
    };
    const int top = static_cast<int>(random() % 21);
    Logprobs logprobs(top, samplable);
    const r1::TokenLogprob& result = logprobs.of(logits, static_cast<TokenId>(chosen));
    CHECK(result.id == static_cast<TokenId>(chosen));
    CHECK(result.logprob == Approx(expected(result.id)).margin(1e-9));
    CHECK(result.logprob <= 0);
    REQUIRE(result.top.size() ==
            std::min<std::size_t>(static_cast<std::size_t>(top), order.size()));
    for (std::size_t i = 0; i < result.top.size(); ++i) {
      CHECK(result.top[i].first == order[i]);
      CHECK(result.top[i].second == Approx(expected(order[i])).margin(1e-9));
    }
    double total = 0;
    for (const TokenId id : order) total += std::exp(logprobs.of(logits, id).logprob);
    CHECK(total == Approx(1).margin(1e-9));
  }
}

TEST_CASE("logprobs: how many may be asked for (G2)") {
  const auto all = std::make_shared<const std::vector<bool>>(4, true);
  for (const int top : {-1, 21, 1'000'000}) CHECK_THROWS_AS(Logprobs(top, all), r1::Error);
  CHECK_NOTHROW(Logprobs(0, all));
  CHECK_NOTHROW(Logprobs(20, all));
}
