// Prompts that begin like others before or beside them: only what is new is computed, and every
// answer is that of a lone, cold run (case K4).
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "r1/engine.hpp"
#include "tests/support/random_model.hpp"

using namespace r1;

namespace {

using Tokens = std::vector<TokenId>;

constexpr std::int64_t kVocab = 256;

GenerationOptions options() {
  GenerationOptions options;
  options.sampling.temperature = 0.8F;
  options.sampling.seed = 7;
  options.max_tokens = 12;
  options.ignore_eos = true;
  return options;
}

Generation drain(Session& session) {
  while (session.next()) {
  }
  return session.result();
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// One engine for all prompts, and the answers of engines that saw nothing else.
class Served {
 public:
  Served() : model_(Model::load(support::random_model({}))), engine_(model_, {.threads = 2}) {}

  Session open() { return engine_.open_session(options()); }

  /// The answer is that of a lone, cold run; the tokens that it did not compute.
  std::int64_t check(Session& session, const Tokens& prompt) {
    const Generation result = drain(session);
    auto [lone, fresh] = lone_.try_emplace(prompt);
    if (fresh) {
      Engine engine(model_, {.threads = 1});
      Session cold = engine.open_session(options());
      cold.complete(prompt);
      const Generation expected = drain(cold);
      CHECK(expected.cached_tokens == 0);
      lone->second = expected.token_ids;
    }
    REQUIRE(result.token_ids == lone->second);
    CHECK(result.cached_tokens < static_cast<std::int64_t>(prompt.size()));
    return result.cached_tokens;
  }

  std::int64_t ask(Session& session, const Tokens& prompt) {
    session.complete(prompt);
    return check(session, prompt);
  }
  std::int64_t ask(const Tokens& prompt) {
    Session session = open();
    return ask(session, prompt);
  }

 private:
  Model model_;
  Engine engine_;
  std::map<Tokens, Tokens> lone_;
};

}  // namespace

TEST_CASE("sessions with one system prompt compute it once (K4)") {
  Served served;
  const Tokens system = support::random_tokens(300, kVocab, 1);
  const Tokens x = joined(system, {1, 2, 3, 4, 5});
  const Tokens y = joined(system, {9, 8, 7, 6, 5});
  CHECK(served.ask(x) == 0);
  CHECK(served.ask(y) == 300);
  CHECK(served.ask(system) == 299);
  CHECK(served.ask(x) == 304);

  Tokens other = system;
  other[0] ^= 1;
  CHECK(served.ask(other) == 0);
  CHECK(served.ask(system) == 299);
}

TEST_CASE("sessions that run at once share a system prompt (K4)") {
  Served served;
  const Tokens system = support::random_tokens(100, kVocab, 2);
  std::vector<Session> sessions;
  std::vector<Tokens> prompts;
  CHECK(served.ask(system) == 0);
  for (TokenId i = 0; i < 5; ++i) {
    sessions.push_back(served.open());
    prompts.push_back(joined(system, Tokens(static_cast<std::size_t>(i * 5), i)));
    sessions.back().complete(prompts.back());
  }
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    CHECK(served.check(sessions[i], prompts[i]) >= 99);
  }
}

TEST_CASE("a history that is cut or edited goes on from where it is the same (K4)") {
  Served served;
  Session session = served.open();
  const Tokens history = support::random_tokens(75, kVocab, 3);
  CHECK(served.ask(session, history) == 0);
  const Tokens cut(history.begin(), history.begin() + 41);
  CHECK(served.ask(session, cut) == 40);
  Tokens edited = history;
  edited[50] ^= 1;
  CHECK(served.ask(session, edited) == 50);
  // What was left behind is still there.
  CHECK(served.ask(session, history) == 74);
  // An answer becomes a part of the history.
  Tokens further = joined(history, session.result().token_ids);
  further.push_back(5);
  CHECK(served.ask(session, further) == 75 + 11);
}

TEST_CASE("prompts that differ in one token, of every length around a page's (K4)") {
  Served served;
  const Tokens text = support::random_tokens(40, kVocab, 4);
  for (const std::size_t length : {15, 16, 17, 31, 32, 33}) {
    for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
      INFO(length << " tokens, another at " << at);
      Tokens prompt(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
      served.ask(prompt);
      prompt[at] ^= 1;
      CHECK(served.ask(prompt) >= static_cast<std::int64_t>(at));
    }
  }
}

TEST_CASE("two hundred random sessions answer as if alone (K4)") {
  Served served;
  std::mt19937 random(5);
  std::vector<Tokens> prompts;
  for (int i = 0; i < 40; ++i) {
    Tokens prompt;
    if (!prompts.empty()) prompt = prompts[random() % prompts.size()];
    prompt.resize(random() % (prompt.size() + 1));
    prompts.push_back(joined(prompt, support::random_tokens(1 + random() % 40, kVocab, random())));
  }
  std::vector<Session> running;
  std::vector<Tokens> asked;
  for (int i = 0; i < 200; ++i) {
    running.push_back(served.open());
    asked.push_back(prompts[random() % prompts.size()]);
    running.back().complete(asked.back());
    while (running.size() > 5 || (i == 199 && !running.empty())) {
      const std::size_t done = random() % running.size();
      served.check(running[done], asked[done]);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(done));
      asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(done));
    }
  }
}
