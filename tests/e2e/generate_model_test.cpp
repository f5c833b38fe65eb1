// Models whose output is prescribed, through r1-generate: ends (C2), thoughts (C3), split
// characters (T6), stop strings (G6), numbers that are none (G1), tokenizer tags (T3), optional
// parts (L5, L6).
#include <catch2/catch.hpp>

#include "tests/e2e/generate_tool.hpp"
#include "tests/support/chain_model.hpp"
#include "tests/support/edited_model.hpp"
#include "tests/support/random_model.hpp"

namespace r1::e2e {
namespace {

using nlohmann::json;
using support::ChainSpec;
using support::Family;
using Arguments = std::vector<std::string>;

constexpr const char* kEnd = "<｜end▁of▁sentence｜>";
const std::string kPlain =
    "{{ bos_token }}{% for m in messages %}<｜User｜>{{ m.content }}{% endfor %}<｜Assistant｜>";
const std::string kPrefill = kPlain + "<think>\n";

json chain_json(const ChainSpec& spec, Arguments arguments) {
  const testing::TempFolder folder;
  arguments.insert(
      arguments.begin(),
      {"-m", write_model(folder, "chain.gguf", support::chain_model(spec)), "--temp", "0"});
  arguments.emplace_back("?");
  return generate_json(arguments);
}

std::string chain_text(const ChainSpec& spec, Arguments arguments) {
  const testing::TempFolder folder;
  arguments.insert(
      arguments.begin(),
      {"-q", "-m", write_model(folder, "chain.gguf", support::chain_model(spec)), "--temp", "0"});
  arguments.emplace_back("?");
  const auto result = generate(arguments);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  return result.out;
}

}  // namespace

TEST_CASE("every end token of both families ends the answer and is not shown (C2)", "[e2e]") {
  struct Case {
    Family family;
    const char* end;
  };
  for (const Case& one : {Case{Family::qwen, "<|endoftext|>"}, Case{Family::qwen, "<|im_end|>"},
                          Case{Family::r1, kEnd}, Case{Family::r1, "<|EOT|>"}}) {
    INFO(one.end);
    const ChainSpec spec{.family = one.family, .script = {"Hel", "lo", one.end}};
    const json report = chain_json(spec, {"--raw"});
    CHECK(report.at("text") == "Hello");
    CHECK(report.at("finish_reason") == "stop");
    CHECK(report.at("completion_tokens") == 2);
    const json chat = chain_json(spec, {"--json"});
    CHECK(chat.at("finish_reason") == "stop");
    CHECK(chat.at("completion_tokens") == 2);
  }
  const ChainSpec endless{.script = {"a", kEnd}, .endless = true};
  CHECK(chain_json(endless, {"--raw", "--ignore-eos", "-n", "5"}).at("completion_tokens") == 5);
  // In an R1 vocabulary the Assistant marker has the number of Qwen's <|im_end|> and ends nothing.
  const json marker = chain_json({.script = {"a", "<｜Assistant｜>", "b", kEnd}}, {"--raw"});
  CHECK(marker.at("completion_tokens") == 3);
  CHECK(marker.at("finish_reason") == "stop");
}

TEST_CASE("thought and answer are told apart, with and without a prefill (C3)", "[e2e]") {
  const ChainSpec prefilled{.script = {"let me", " see\n", "</think>", "\n\n", "42", kEnd},
                            .chat_template = kPrefill};
  const ChainSpec opened{
      .script = {"<think>", "\n", "let me", " see\n", "</think>", "\n\n", "42", kEnd},
      .chat_template = kPlain};
  for (const ChainSpec& spec : {prefilled, opened}) {
    const json report = chain_json(spec, {});
    CHECK(report.at("reasoning") == "let me see");
    CHECK(report.at("text") == "42");
    CHECK(report.at("finish_reason") == "stop");
    CHECK(chain_text(spec, {"--think", "hide"}) == "42\n");
    CHECK(chain_text(spec, {"--think", "only"}) == "let me see\n");
    const std::string both = chain_text(spec, {"--think", "show"});
    CHECK(both.starts_with("<think>\nlet me see\n</think>\n"));
    CHECK(both.ends_with("\n42\n"));
  }
  const json none = chain_json({.script = {"4", "2", kEnd}, .chat_template = kPlain}, {});
  CHECK(none.at("reasoning") == "");
  CHECK(none.at("text") == "42");
}

TEST_CASE("split and broken characters give valid output (T6)", "[e2e]") {
  const ChainSpec whole{.script = {" \xf0\x9f", "\xa6", "\x99", kEnd}};
  CHECK(chain_text(whole, {"--raw"}) == " 🦙\n");
  CHECK(chain_json(whole, {"--raw"}).at("text") == " 🦙");
  CHECK(chain_json(whole, {"--raw", "-n", "1"}).at("text") == " \xef\xbf\xbd");
  CHECK(chain_json({.script = {" \xf0\x9f", "\xa6", kEnd}}, {"--raw"}).at("text") ==
        " \xef\xbf\xbd");
  CHECK(chain_json({.script = {"a", "\x99", kEnd}}, {"--raw"}).at("text") == "a\xef\xbf\xbd");
}

TEST_CASE("stop strings over token borders, streamed and not (G6)", "[e2e]") {
  const ChainSpec spec{.script = {"foo", " END", "_OF", "_ANS", "WER", " bar", kEnd}};
  struct Case {
    Arguments stops;
    std::string expected;
  };
  for (const Case& one :
       {Case{{"D_OF"}, "foo EN"}, Case{{"END_OF_ANSWER!"}, "foo END_OF_ANSWER bar"},
        Case{{"bar", "foo END"}, ""},
        Case{{"x1", "x2", "x3", "x4", "bar"}, "foo END_OF_ANSWER "}}) {
    Arguments arguments = {"--raw"};
    for (const std::string& stop : one.stops) arguments.insert(arguments.end(), {"--stop", stop});
    CHECK(chain_json(spec, arguments).at("text") == one.expected);
    CHECK(chain_json(spec, arguments).at("finish_reason") == "stop");
    const std::string streamed = chain_text(spec, arguments);
    CHECK(streamed.starts_with(one.expected));
    CHECK(streamed.size() <= one.expected.size() + 1);  // the newline at the end
  }
}

TEST_CASE("a model that computes NaN ends in an error, not in a string of one token (G1)",
          "[e2e]") {
  const testing::TempFolder folder;
  const std::string path =
      write_model(folder, "nan.gguf", support::random_model({.nan_weight = true}));
  for (const char* temperature : {"0", "0.7"}) {
    const auto result = generate({"-q", "-m", path, "--temp", temperature, "hello"});
    INFO(result.err);
    CHECK(result.exit_code == 1);
    CHECK(result.out.empty());
    CHECK(line_count(result.err) == 1);
    CHECK(contains(result.err, "NaN"));
  }
  const auto report = json::parse(generate({"-m", path, "--json", "hello"}).out);
  CHECK(report.at("finish_reason") == "error");
  CHECK(contains(report.at("error"), "NaN"));
  CHECK(report.at("completion_tokens") == 0);
}

TEST_CASE("a missing or unknown tokenizer tag is said aloud (T3)", "[e2e]") {
  const testing::TempFolder folder;
  const auto image = support::chain_model({.script = {"Hello", kEnd}});
  const auto run = [&](const support::ModelEdit& edit) {
    const auto path = write_model(folder, "m.gguf", support::edited_model(image, edit));
    const auto result = generate({"-m", path, "--raw", "How are you?\nFine"});
    CHECK(result.exit_code == 0);
    CHECK(result.out == "Hello\n");
    return result.err;
  };
  const std::string key = "tokenizer.ggml.pre";
  CHECK_FALSE(contains(run({}), key));
  CHECK_FALSE(contains(run({.keys = {{key, std::string("qwen2")}}}), key));
  CHECK(contains(run({.keys = {{key, std::string("foo")}}}), "r1-generate: warning: "));
  CHECK(contains(run({.keys = {{key, std::string("foo")}}}), key));
  CHECK(contains(run({.drop_keys = {key}}), key));
}

TEST_CASE("what a file lacks or has too much of is said aloud (L5, L6)", "[e2e]") {
  const testing::TempFolder folder;
  const auto image = support::random_model({});
  const auto warnings = [&](const support::ModelEdit& edit, Arguments arguments = {}) {
    const auto path = write_model(folder, "m.gguf", support::edited_model(image, edit));
    arguments.insert(arguments.end(), {"-m", path, "-n", "1", "--raw", "x"});
    const auto result = generate(arguments);
    CHECK(result.exit_code == 0);
    return result.err;
  };
  CHECK(contains(warnings({.extra = true}), "blk.0.surprise"));
  CHECK(contains(warnings({.drop_keys = {"qwen2.rope.freq_base"}}), "rope.freq_base"));
  CHECK(contains(warnings({}, {"-c", "4096"}), "2048 positions"));
  CHECK_FALSE(contains(warnings({}, {"-c", "2048"}), "positions"));
}

}  // namespace r1::e2e
