// What a user asks of a thought, an answer and the memory of a conversation, through the tool.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/generate_tool.hpp"
#include "tests/support/temp_folder.hpp"

using nlohmann::json;
using namespace r1::e2e;
using r1::support::ProcessResult;

TEST_CASE("a thinking budget ends the thought and the answer follows", "[e2e]") {
  const json whole = generate_json({"-t", "1", kChickens});
  CHECK(whole.at("thought_end") == "model");
  const json none = generate_json({"-t", "1", "--think-budget", "0", kChickens});
  CHECK(none.at("thought_end") == "budget");
  CHECK(none.at("reasoning") == "");
  CHECK(none.at("text") != "");
  const json seconds = generate_json({"-t", "1", "--think-budget", "100s", kChickens});
  CHECK(seconds.at("thought_end") == "model");
  CHECK(seconds.at("token_ids") == whole.at("token_ids"));
}

TEST_CASE("an answer in JSON, from a schema in a file or on the command line", "[e2e]") {
  const std::string schema =
      R"({"type":"object","properties":{"a":{"enum":[1,2]}},"required":["a"]})";
  const r1::testing::TempFolder folder;
  for (const std::string& source : {schema, folder.write("schema.json", schema)}) {
    const json report = generate_json({"-t", "1", "--json-schema", source, kChickens});
    const json answer = json::parse(report.at("text").get<std::string>());
    CHECK((answer.at("a") == 1 || answer.at("a") == 2));
  }
  const ProcessResult wrong =
      generate({"--json-schema", R"({"type":"string","format":"date"})", "Q"});
  CHECK(wrong.exit_code != 0);
  CHECK_THAT(wrong.err, Catch::Contains("format"));
}

TEST_CASE("log-probabilities are in the report", "[e2e]") {
  const json report = generate_json({"-t", "1", "--logprobs", "2", "-n", "5", kChickens});
  REQUIRE(report.at("logprobs").size() == 5);
  for (const json& token : report.at("logprobs")) {
    CHECK(token.at("logprob").get<double>() <= 0);
    CHECK(token.at("top").size() == 2);
    CHECK(token.at("text").is_string());
  }
  CHECK(generate({"--logprobs", "2", "Q"}).exit_code == 2);
}

TEST_CASE("keys and values in every type and in bounded memory", "[e2e]") {
  const json f16 = generate_json({"-t", "1", kChickens});
  CHECK(f16.at("kv_type") == "f16");
  for (const char* option : {"--kv-type", "-ctk", "-ctv"}) {
    const json q8 = generate_json({"-t", "1", option, "q8", kChickens});
    CHECK(q8.at("kv_type") == "q8");
    CHECK_THAT(q8.at("text").get<std::string>(), Catch::Contains("23"));
  }
  const ProcessResult both = generate({"-ctk", "q8_0", "-ctv", "f16", "Q"});
  CHECK(both.exit_code == 2);
  CHECK_THAT(both.err, Catch::Contains("--cache-type-v"));
  // Room for fewer tokens than the prompt has.
  const ProcessResult small = generate({"--kv-memory", "24K", kChickens});
  CHECK(small.exit_code == 1);
  CHECK_THAT(small.err, Catch::Contains("expected"));
}
