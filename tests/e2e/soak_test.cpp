// Thousands of mixed requests: memory stays flat, pages come back, and every answer is that of a
// lone, cold run (case R5).
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/support/tiny_r1.hpp"

using namespace r1;

namespace {

constexpr int kRequests = 5000;
constexpr int kWarm = 500;
constexpr std::int64_t kContext = 512;
constexpr std::size_t kAtOnce = 6;

/// Bytes of this process that belong to no file, those swapped out included.
std::int64_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  std::int64_t kib = 0;
  for (std::string word; status >> word;) {
    if (word != "RssAnon:" && word != "VmSwap:") continue;
    std::int64_t value = 0;
    status >> value;
    kib += value;
  }
  return kib * 1024;
}

struct Ask {
  std::vector<TokenId> prompt;
  std::int64_t max_tokens;
};

GenerationOptions options_of(const Ask& ask) {
  GenerationOptions options;
  options.sampling.temperature = 0.6F;
  options.sampling.seed = 9;
  options.max_tokens = ask.max_tokens;
  options.ignore_eos = true;
  return options;
}

/// Different questions, most of which begin like others.
std::vector<Ask> questions(std::int64_t vocab) {
  std::mt19937_64 random(3);
  const auto tokens = [&](std::size_t count) {
    std::vector<TokenId> ids(count);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % static_cast<std::uint64_t>(vocab));
    return ids;
  };
  const std::vector<std::vector<TokenId>> beginnings = {{}, tokens(40), tokens(63), tokens(160)};
  std::vector<Ask> asks;
  for (int i = 0; i < 80; ++i) {
    std::vector<TokenId> prompt = beginnings[random() % beginnings.size()];
    const auto rest = tokens(1 + random() % (i % 10 == 0 ? 250 : 40));
    prompt.insert(prompt.end(), rest.begin(), rest.end());
    asks.push_back({prompt, static_cast<std::int64_t>(1 + random() % 16)});
  }
  return asks;
}

struct Running {
  Session session;
  std::size_t ask;
  bool stopped;
};

}  // namespace

TEST_CASE("5,000 mixed requests leave memory and answers as they were (R5)") {
  const Model model = Model::load(support::embedded_path());
  const std::vector<Ask> asks = questions(model.info().vocab);
  std::map<std::size_t, std::vector<TokenId>> lone;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    Engine engine(model, {.threads = 1, .kv_tokens = kContext});
    Session session = engine.open_session(options_of(asks[i]));
    session.complete(asks[i].prompt);
    while (session.next()) {
    }
    lone[i] = session.result().token_ids;
  }

  Engine engine(model, {.threads = 2, .kv_tokens = kContext, .kv_memory = 4 << 20});
  std::mt19937_64 random(4);
  std::deque<Running> running;
  std::int64_t warm = 0;
  int wrong = 0;
  const auto end_oldest = [&] {
    Running& oldest = running.front();
    while (oldest.session.next()) {
    }
    const Generation& result = oldest.session.result();
    const std::vector<TokenId>& expected = lone[oldest.ask];
    const bool prefix =
        result.token_ids.size() <= expected.size() &&
        std::equal(result.token_ids.begin(), result.token_ids.end(), expected.begin());
    const bool whole = result.token_ids.size() == expected.size();
    if (!prefix || !(whole || oldest.stopped)) ++wrong;
    running.pop_front();
  };
  for (int i = 0; i < kRequests; ++i) {
    const std::size_t ask = random() % asks.size();
    Session session = engine.open_session(options_of(asks[ask]));
    if (i % 17 == 0) {
      const std::vector<TokenId> over_long(kContext + 5, 1);
      CHECK_THROWS_AS(session.complete(over_long), Error);
    }
    session.complete(asks[ask].prompt);
    const bool stopped = random() % 8 == 0;
    if (stopped) session.stop();
    running.push_back({std::move(session), ask, stopped});
    if (running.size() == kAtOnce) end_oldest();
    if (i == kWarm) warm = anonymous_bytes();
  }
  while (!running.empty()) end_oldest();
  CHECK(wrong == 0);
  CHECK(anonymous_bytes() - warm < 4 << 20);
  const KvUsage usage = engine.kv_usage();
  CHECK(usage.used == 0);
  CHECK(usage.free + usage.cached == usage.capacity);
  CHECK(usage.evicted > 0);
  CHECK(usage.tokens_reused > 0);
}
