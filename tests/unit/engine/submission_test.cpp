// Generations that run by themselves: events on the loop thread, batches, ranges over pieces.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "r1/engine.hpp"
#include "r1/error.hpp"
#include "tests/support/tiny_r1.hpp"

using namespace r1;

namespace {

GenerationOptions greedy() {
  GenerationOptions options;
  options.sampling.temperature = 0;
  options.max_tokens = 60;
  return options;
}

std::vector<Message> question(const std::string& text) {
  return {{.role = "user", .content = text}};
}

}  // namespace

TEST_CASE("events tell what a session gives, on one thread that is not the caller's") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 2});
  Session session = engine.open_session(greedy());
  session.user("12 + 30 = ?");
  std::string thought, answer;
  for (const Piece& piece : session) {
    (piece.kind == PieceKind::thought ? thought : answer) += piece.text;
  }
  CHECK(session.result().reasoning == thought);
  CHECK(session.result().text == answer);

  std::string heard;
  std::vector<std::thread::id> threads;
  std::atomic<int> ends{0};
  Submission submission = engine.submit(
      question("12 + 30 = ?"), greedy(),
      {.on_piece =
           [&](const Piece& piece) {
             heard += piece.text;
             threads.push_back(std::this_thread::get_id());
           },
       .on_end =
           [&](const Generation& generation) { ends += generation.text == answer ? 1 : 100; }});
  const Generation result = submission.wait();
  CHECK(ends == 1);
  CHECK(heard == thought + answer);
  CHECK(result.token_ids == session.result().token_ids);
  for (const auto id : threads) CHECK(id == threads.front());
  CHECK(threads.front() != std::this_thread::get_id());
}

TEST_CASE("a batch gives each conversation's own answer, in order") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 2});
  std::vector<std::vector<Message>> conversations;
  for (int i = 0; i < 12; ++i) conversations.push_back(question(std::to_string(i) + " + 5 = ?"));
  const std::vector<Generation> results = engine.generate(conversations, greedy());
  REQUIRE(results.size() == conversations.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    Engine lone(model, {.threads = 1});
    CHECK(lone.generate({conversations[i]}, greedy()).front().token_ids == results[i].token_ids);
  }
  CHECK(engine.generate({}, greedy()).empty());
}

TEST_CASE("submissions come from many threads and are cancelled from others") {
  const Model model = Model::load(support::embedded_path());
  Engine engine(model, {.threads = 2});
  std::vector<std::thread> callers;
  std::atomic<int> ended{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      for (int j = 0; j < 5; ++j) {
        GenerationOptions options = greedy();
        options.max_tokens = 300;
        Submission submission =
            engine.submit(question(std::to_string(10 * i + j) + " + 1 = ?"), options,
                          {.on_end = [&](const Generation&) { ++ended; }});
        if (j % 2 == 1) submission.cancel();
        if (j == 4) continue;  // destroyed while it runs
        submission.wait();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(ended == 20);
  CHECK(engine.kv_usage().used == 0);
  GenerationOptions wrong;
  wrong.max_tokens = -5;
  CHECK_THROWS_AS(engine.submit(question("?"), wrong), Error);
}
