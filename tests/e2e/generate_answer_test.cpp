// Answers of the embedded model: right, streamed to the right place, limited and repeatable.
#include <catch2/catch.hpp>

#include "r1/model.hpp"
#include "tests/e2e/generate_tool.hpp"

using namespace r1::e2e;
using nlohmann::json;
using r1::TokenId;
using r1::support::ProcessResult;

namespace {

using Ids = std::vector<TokenId>;

Ids ids_of(const json& report) { return report.at("token_ids").get<Ids>(); }

}  // namespace

TEST_CASE("chickens and rabbits are counted", "[e2e]") {
  const ProcessResult chinese = generate({kChickens});
  CHECK(chinese.exit_code == 0);
  CHECK(contains(chinese.out, "鸡有23只"));
  CHECK(contains(chinese.out, "兔子有12只"));

  const ProcessResult english = generate(
      {"There are 35 heads and 94 feet of chickens and rabbits in a cage. How many of each?"});
  CHECK(english.exit_code == 0);
  CHECK(contains(english.out, "23 chickens and 12 rabbits"));
}

TEST_CASE("held-out problems are solved through the tool", "[e2e]") {
  // The README of the model: 99 % of all, 98 % as Q8_0. Ten of them may hold one mistake.
  int right = 0;
  const auto problems = r1::support::heldout_problems();
  for (std::size_t i = 0; i < 10; ++i) {
    const auto& problem = problems.at(i * problems.size() / 10);
    right += r1::support::is_right(problem, generate({"-q", problem.prompt}).out) ? 1 : 0;
  }
  CHECK(right >= 9);
}

TEST_CASE("the thought is hidden in a pipe and shown on request", "[e2e]") {
  const ProcessResult hidden = generate({kChickens});
  CHECK_FALSE(contains(hidden.out, "think>"));
  CHECK_FALSE(contains(hidden.out, "验算"));  // a word of the thought alone
  CHECK(line_count(hidden.out) == 1);
  CHECK(hidden.out.back() == '\n');

  const ProcessResult shown = generate({"--think", "show", kChickens});
  CHECK(shown.out.starts_with("<think>\n题目给出"));
  CHECK(contains(shown.out, "正确。\n</think>\n\n答："));
  CHECK(shown.out.ends_with(hidden.out));

  const ProcessResult only = generate({"--think", "only", kChickens});
  CHECK(only.out.starts_with("题目给出"));
  CHECK_FALSE(contains(only.out, "think>"));
  CHECK_FALSE(contains(only.out, "答："));
  CHECK(shown.out == "<think>\n" + only.out + "</think>\n\n" + hidden.out);
}

TEST_CASE("--json has every field, and ids that spell the text", "[e2e]") {
  const json report = generate_json({"--temp", "0", "-t", "1", "--seed", "5", kChickens});
  for (const char* field :
       {"text", "reasoning", "finish_reason", "prompt_tokens", "completion_tokens",
        "prompt_token_ids", "token_ids", "model", "isa", "threads", "seed", "timings",
        "peak_memory_bytes", "thought_end", "loop", "cached_tokens", "kv_type"}) {
    INFO(field);
    CHECK(report.contains(field));
  }
  for (const char* field :
       {"load_ms", "ttft_ms", "prefill_tokens_per_s", "decode_tokens_per_s", "total_ms"}) {
    INFO(field);
    CHECK(report.at("timings").at(field).get<double>() > 0);
  }
  CHECK(report.at("finish_reason") == "stop");
  CHECK(report.at("model") == "tiny-r1");
  CHECK(report.at("threads") == 1);
  CHECK(report.at("seed") == 5);
  CHECK(report.at("peak_memory_bytes").get<std::int64_t>() > 5'000'000);

  const auto reference = chickens_reference();
  CHECK(report.at("prompt_token_ids").get<Ids>() == reference.tokens);
  CHECK(report.at("prompt_tokens") == reference.tokens.size());
  const Ids ids = ids_of(report);
  CHECK(report.at("completion_tokens") == ids.size());
  // The reference is of BF16 weights; its smallest lead here is 10 logits, far more than Q8_0
  // moves.
  REQUIRE(ids.size() > reference.greedy.size());
  CHECK(Ids(ids.begin(), ids.begin() + static_cast<long>(reference.greedy.size())) ==
        reference.greedy);

  const r1::Model model = r1::Model::load(r1::support::embedded_path());
  CHECK_FALSE(model.tokenizer().is_end_of_generation(ids.back()));
  const std::string spelled = model.tokenizer().decode(ids);
  const std::string reasoning = report.at("reasoning");
  const std::string text = report.at("text");
  CHECK(spelled.starts_with(reasoning));
  CHECK(contains(spelled.substr(reasoning.size()), "</think>"));
  CHECK(contains(spelled.substr(reasoning.size()), text));
  CHECK(generate({"-q", "--temp", "0", kChickens}).out.starts_with(text));
}

TEST_CASE("limits are exact", "[e2e]") {
  for (const int limit : {0, 1, 2, 7}) {
    INFO(limit);
    const json report = generate_json({"-n", std::to_string(limit), kChickens});
    CHECK(report.at("completion_tokens") == limit);
    CHECK(report.at("finish_reason") == "length");
  }
  CHECK(generate_json({"-n", "-1", kChickens}).at("finish_reason") == "stop");
  CHECK(generate_json({"-n", "1000000", kChickens}).at("finish_reason") == "stop");

  const ProcessResult inside = generate({"-n", "3", kChickens});
  CHECK(inside.exit_code == 0);
  CHECK(inside.out.empty());
  CHECK(contains(inside.err, "inside the thought"));
  CHECK(contains(inside.err, "| token limit"));
}

TEST_CASE("the context ends an answer that does not", "[e2e]") {
  const json report = generate_json({"-c", "64", "--ignore-eos", kChickens});
  CHECK(report.at("finish_reason") == "length");
  const auto total =
      report.at("prompt_tokens").get<int>() + report.at("completion_tokens").get<int>();
  CHECK(total <= 65);  // the last token needs no place in the cache
  CHECK(total >= 63);

  std::string longest;
  for (int i = 0; i < 200; ++i) longest += "鸡兔同笼";
  const ProcessResult refused = generate({"-c", "64", longest});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.starts_with("r1-generate: error: "));
  CHECK(contains(refused.err, "64"));
  CHECK(line_count(refused.err) == 1);
}

TEST_CASE("stop strings cut the answer before them", "[e2e]") {
  const json report = generate_json({"--stop", "，兔子", kChickens});
  CHECK(report.at("text") == "答：鸡有23只");
  CHECK(report.at("finish_reason") == "stop");
  CHECK(generate({"-q", "--stop", "，兔子", kChickens}).out == "答：鸡有23只\n");
  // Several; the one that comes first counts. Square brackets are no list.
  CHECK(generate({"-q", "--stop", "[x]", "--stop", "只，", "-r", "23", kChickens}).out ==
        "答：鸡有\n");
  const ProcessResult empty = generate({"--stop", "", kChickens});
  CHECK(empty.exit_code == 2);
}

TEST_CASE("the same request gives the same tokens", "[e2e]") {
  const std::vector<std::string> drawn = {"--temp",       "3",       "-n", "40",
                                          "--ignore-eos", "--top-k", "0"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), drawn.begin(), drawn.end());
    more.emplace_back(kChickens);
    return generate_json(more);
  };
  const Ids first = ids_of(run({"--seed", "1"}));
  CHECK(ids_of(run({"--seed", "1"})) == first);
  CHECK(ids_of(run({"--seed", "1", "-t", "1", "-tb", "2"})) == first);
  CHECK(ids_of(run({"--seed", "1", "-b", "7"})) == first);
  CHECK(ids_of(run({"--seed", "2"})) != first);
  CHECK(ids_of(run({"--seed", "4294967297"})) != first);  // 2^32 + 1: all 64 bits count
  for (const char* seed : {"4294967296", "9223372036854775807", "18446744073709551615"}) {
    CHECK(run({"--seed", seed}).at("seed").get<std::uint64_t>() == std::stoull(seed));
  }
  // A seed that was drawn is reported, and repeats the run.
  const json random = run({"--seed", "-1"});
  const auto seed = std::to_string(random.at("seed").get<std::uint64_t>());
  CHECK(ids_of(run({"--seed", seed})) == ids_of(random));
}

TEST_CASE("a biased token is chosen or never chosen", "[e2e]") {
  const Ids plain = ids_of(generate_json({"--temp", "0", "-n", "1", kChickens}));
  const std::string id = std::to_string(plain.at(0));
  CHECK(ids_of(generate_json({"--temp", "0", "-n", "1", "-l", id + "-1e30", kChickens})) != plain);
  CHECK(ids_of(generate_json({"--temp", "0", "-n", "1", "-l", "100=1e30", kChickens})) == Ids{100});
}

TEST_CASE("a summary follows on standard error unless quiet", "[e2e]") {
  const ProcessResult spoken = generate({"--temp", "0.6", "--seed", "77", kChickens});
  CHECK(line_count(spoken.err) == 1);
  CHECK(contains(spoken.err, "prompt 17 tokens"));  // the reference prompt's length
  CHECK(contains(spoken.err, "first token "));
  CHECK(contains(spoken.err, "seed 77"));
  CHECK(generate({"-q", kChickens}).err.empty());
  CHECK(contains(generate({"--verbose", kChickens}).err, "context: 2048 tokens"));
}
