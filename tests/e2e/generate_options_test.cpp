// The command line: what guides print runs as pasted, what makes no sense is refused by name.
#include <catch2/catch.hpp>
#include <sstream>

#include "r1/system.hpp"
#include "tests/e2e/generate_tool.hpp"

using namespace r1::e2e;
using Arguments = std::vector<std::string>;
using r1::support::ProcessResult;

namespace {

/// `text` split at blanks.
Arguments words(const std::string& text) {
  std::istringstream stream(text);
  Arguments result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

}  // namespace

TEST_CASE("command lines of deployment guides run as pasted", "[e2e]") {
  const std::string model = r1::support::embedded_path();
  const std::vector<std::string> lines = {
      "-m " + model + " -p Q --threads 6 --threads-batch 6 --ctx-size 2048 --batch-size 512 " +
          "--no-mmap --mlock --numa 0 --temp 0.7 --top-k 40 --repeat-penalty 1.1",
      "-m " + model + " -p Q -t 16 -c 2048 --mlock",
      "--model " + model + " --cache-type-k q8_0 --threads 12 -no-cnv --prio 2 --temp 0.6 " +
          "--ctx-size 2048 --seed 3407 --prompt <｜User｜>1+1?<｜Assistant｜>",
      "-m " + model + " -t 4 -tb 4 -c 1024 -b 256 -ub 256 -ngl 0 -ctk f16 -ctv f16 -n 20 -p Q",
      "-m " + model + " --color -e -s 42 --n-predict 20 --repeat-last-n 64 --top-p 0.95 --prompt Q",
      "-m " + model + " --low-vram --mmap --no-display-prompt --predict 20 -p Q",
      "-m " + model + " -fa on --no-warmup -st -p Q",
      "-m " + model + " -fa -p Q",
  };
  for (const std::string& line : lines) {
    INFO(line);
    const ProcessResult result = generate(words(line + " -n 20"));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK_FALSE(contains(result.err, "error"));
  }
}

TEST_CASE("options without effect are named once", "[e2e]") {
  const ProcessResult result = generate({"--numa", "distribute", "--low-vram", "-n", "0", "Q"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "r1-generate: note: without effect here: --low-vram, --numa") !=
        contains(result.err, "r1-generate: note: without effect here: --numa, --low-vram"));
  CHECK_FALSE(contains(generate({"-q", "--numa", "0", "-n", "0", "Q"}).err, "numa"));
}

TEST_CASE("a value that looks like an option stays a value", "[e2e]") {
  const auto ids = [](Arguments arguments) {
    arguments.insert(arguments.begin(), {"-n", "0"});
    return generate_json(arguments).at("prompt_token_ids");
  };
  CHECK(ids({"-p", "-tb"}) != ids({"-p", "--threads-batch"}));
  CHECK(ids({"-p", "-tb"}) == ids({"--", "-tb"}));
  CHECK(ids({"--prompt=-ngl"}) == ids({"--", "-ngl"}));
  // A flag is followed by no value, so what comes next is an option again.
  CHECK(generate({"-q", "--ignore-eos", "-tb", "1", "-n", "0", "Q"}).exit_code == 0);
}

TEST_CASE("values out of range are refused with code 2 and the option's name", "[e2e]") {
  struct Case {
    std::string option, value;
  };
  const std::vector<Case> cases = {
      {"--temp", "-1"},
      {"--temp", "nan"},
      {"--temp", "inf"},
      {"--temp", "1e30"},
      {"--temp", "0,7"},
      {"--temp", "0.7x"},
      {"--temp", ""},
      {"--top-k", "-2"},
      {"--top-k", "9223372036854775808"},
      {"--top-k", "4.5"},
      {"--top-p", "1.1"},
      {"--top-p", "-0.1"},
      {"--min-p", "2"},
      {"--min-p", "-1"},
      {"--repeat-penalty", "0"},
      {"--repeat-penalty", "-1"},
      {"--repeat-last-n", "-2"},
      {"--presence-penalty", "101"},
      {"--frequency-penalty", "-101"},
      {"--logit-bias", "-1=5"},
      {"--logit-bias", "abc"},
      {"--logit-bias", "5=abc"},
      {"--logit-bias", "5=1e31"},
      {"--logit-bias", "1000000000=1"},
      {"--logit-bias", "2112=1"},
      {"--seed", "18446744073709551616"},
      {"--seed", "x"},
      {"--max-tokens", "-3"},
      {"--max-tokens", "five"},
      {"--max-tokens", "0x10"},
      {"--threads", "5000"},
      {"--threads", "two"},
      {"--ctx-size", "-1"},
      {"--batch-size", "0"},
      {"--think", "maybe"},
      {"--think-budget", "-1"},
      {"--think-budget", "long"},
      {"--think-budget", "3m"},
      {"--kv-type", "q4"},
      {"--overflow", "shift"},
      {"--cache-type-k", "int8"},
      {"--kv-memory", "0"},
      {"--kv-memory", "12Q"},
      {"--logprobs", "21"},
      {"--json-schema", "/no/such/file"},
      {"--stop", ""},
      {"--isa", "mmx"},
      {"--model", ""},
      {"--file", ""},
  };
  for (const Case& c : cases) {
    INFO(c.option << " " << c.value);
    const ProcessResult result = generate({c.option, c.value, "--", "Q"});
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.starts_with("r1-generate: error: " + c.option));
    CHECK(line_count(result.err) == 1);
    CHECK(result.out.empty());
  }
}

TEST_CASE("values at the edges of their ranges are taken", "[e2e]") {
  for (const char* line : {"--top-k -1",
                           "--top-k 0",
                           "--top-k 1",
                           "--top-k 151936",
                           "--top-k 2147483648",
                           "--top-k 9223372036854775807",
                           "--top-p 0",
                           "--top-p 1e-9",
                           "--top-p 1",
                           "--min-p 0",
                           "--min-p 1",
                           "--temp 1e-30",
                           "--temp 100",
                           "--repeat-penalty 100",
                           "--presence-penalty -100",
                           "--frequency-penalty 100",
                           "--repeat-last-n -1",
                           "--logit-bias 2111=-1e30",
                           "--seed -1",
                           "--max-tokens -2",
                           "-b 1",
                           "-t 010"}) {
    INFO(line);
    Arguments arguments = words(line);
    arguments.insert(arguments.end(), {"-q", "-n", "2", "Q"});
    const ProcessResult result = generate(arguments);
    INFO(result.err);
    CHECK(result.exit_code == 0);
  }
}

TEST_CASE("what is missing, unknown or contradictory is a usage error", "[e2e]") {
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{"--bogus", "Q"}, "unknown option --bogus"},
      {{"-z", "Q"}, "unknown option -z"},
      {{"one", "two"}, "unexpected 'two'"},
      {{"--temp"}, "--temp: expected a value, got none"},
      {{"--json=false", "Q"}, "--json: expected no value"},
      {{"-p", "a", "-p", "b"}, "--prompt: expected it once"},
      {{"a", "-p", "b"}, "more than one prompt"},
      {{"a", "-f", "b"}, "more than one prompt"},
      {{"--special", "Q"}, "--special: "},
      {{"--raw", "--system", "s", "Q"}, "--system: "},
      {{"--raw", "--cot", "Q"}, "--cot: "},
      {{"--raw", "-i", "Q"}, "--interactive: "},
      {{"--json", "-cnv"}, "--json: "},
  };
  for (const auto& [arguments, message] : cases) {
    const ProcessResult result = generate(arguments);
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.starts_with("r1-generate: error: " + message));
    CHECK(line_count(result.err) == 1);
  }
}

TEST_CASE("--help fits 80 columns and names every option it describes", "[e2e]") {
  const ProcessResult result = generate({"--help"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    std::size_t columns = 0;
    for (const char c : line) {
      // A Chinese character has three bytes and takes two columns.
      const auto byte = static_cast<unsigned char>(c);
      columns += byte < 0x80 ? 1 : byte >= 0xE0 ? 2 : 0;
    }
    CHECK(columns <= 80);
  }
  for (const char* option : {"--model",
                             "--prompt",
                             "--file",
                             "--max-tokens",
                             "--threads",
                             "--threads-batch",
                             "--ctx-size",
                             "--batch-size",
                             "--temp",
                             "--top-k",
                             "--top-p",
                             "--min-p",
                             "--repeat-penalty",
                             "--repeat-last-n",
                             "--presence-penalty",
                             "--frequency-penalty",
                             "--logit-bias",
                             "--seed",
                             "--stop",
                             "--system",
                             "--raw",
                             "--special",
                             "--think",
                             "--think-budget",
                             "--kv-type",
                             "--overflow",
                             "--kv-memory",
                             "--json-schema",
                             "--json-answer",
                             "--logprobs",
                             "--cot",
                             "--isa",
                             "--no-mmap",
                             "--mlock",
                             "--numa",
                             "--low-vram",
                             "--json",
                             "--quiet",
                             "--verbose",
                             "--version"}) {
    INFO(option);
    CHECK(contains(result.out, option));
  }
  CHECK(generate({"-h"}).out == result.out);
}

TEST_CASE("--version names the tiers and the compiler", "[e2e]") {
  const ProcessResult result = generate({"--version"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "r1-generate " + r1::version()));
  CHECK(contains(result.out, "in use"));
  CHECK(contains(result.out, "compiler: "));
  for (const auto& tier : r1::isa_tiers()) {
    CHECK(contains(result.out, "isa " + tier.name + ": "));
    const ProcessResult forced = generate({"--version", "--isa", tier.name});
    if (tier.available) {
      CHECK(contains(forced.out, "isa " + tier.name + ": in use"));
    } else {
      CHECK(forced.exit_code == 1);
      CHECK(contains(forced.err, "--isa: this CPU cannot run " + tier.name));
    }
  }
}

TEST_CASE("every tier of this CPU can be forced and is reported", "[e2e]") {
  for (const auto& tier : r1::isa_tiers()) {
    if (!tier.available) continue;
    INFO(tier.name);
    const auto report = generate_json({"--isa", tier.name, "--temp", "0", kChickens});
    CHECK(report.at("isa") == tier.name);
    CHECK(contains(report.at("text"), "鸡有23只"));
  }
}
