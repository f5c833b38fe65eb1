// The command line of r1-bench: help, version, and what makes no sense is refused in one line.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "r1/system.hpp"
#include "tests/support/process.hpp"
#include "tests/support/tiny_r1.hpp"

using Arguments = std::vector<std::string>;
using r1::support::ProcessResult;

namespace {

ProcessResult bench(Arguments arguments) {
  arguments.insert(arguments.begin(), R1_BENCH_TOOL);
  return r1::support::run_process(arguments);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what makes no sense ends with code 2 and one line that names it", "[e2e]") {
  const std::string model = r1::support::embedded_path();
  const std::vector<std::pair<Arguments, std::string>> cases = {
      {{}, "expected a command, roofline or model"},
      {{"speed"}, "expected the command roofline or model, got 'speed'"},
      {{"-m", model}, "expected the command roofline or model, got '-m'"},
      {{"roofline", "-m", model}, "unknown option -m"},
      {{"roofline", "now"}, "unexpected 'now'"},
      {{"roofline", "--limit-seconds", "0"}, "--limit-seconds: expected more than 0"},
      {{"roofline", "--limit-seconds", "61"}, "--limit-seconds: expected a number"},
      {{"roofline", "-t", "5000"}, "--threads: expected an integer"},
      {{"roofline", "--isa", "mmx"}, "--isa: expected one of"},
      {{"roofline", "-o", "xml"}, "--output: expected table, json, csv or md, got 'xml'"},
      {{"model"}, "model: expected --model FILE or --synthetic SHAPE, got neither"},
      {{"model", "-m"}, "--model: expected a value, got none"},
      {{"model", "-m", ""}, "--model: expected a file name"},
      {{"model", "-m", model, "--synthetic", "r1-1.5b"}, "--synthetic: expected either"},
      {{"model", "--synthetic", "r1-3b"}, "--synthetic: expected one of"},
      {{"model", "--synthetic", "r1-1.5b", "--type", "Q9"}, "--type: expected one of"},
      {{"model", "-m", model, "--type", "Q8_0"}, "--type: only a model of --synthetic"},
      {{"model", "-m", model, "--save", "x.gguf"}, "--save: only a model of --synthetic"},
      {{"model", "-m", model, "-p", "1,,2"}, "--n-prompt: expected an integer"},
      {{"model", "-m", model, "-p", "8,"}, "--n-prompt: expected an integer"},
      {{"model", "-m", model, "-p", ""}, "--n-prompt: expected an integer"},
      {{"model", "-m", model, "-d", "-1"}, "--depth: expected an integer"},
      {{"model", "-m", model, "-n", "x"}, "--n-gen: expected an integer"},
      {{"model", "-m", model, "--batch", "0"}, "--batch: expected an integer"},
      {{"model", "-m", model, "-r", "0"}, "--repetitions: expected an integer"},
  };
  for (const auto& [arguments, message] : cases) {
    const ProcessResult result = bench(arguments);
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.starts_with("r1-bench: error: " + message));
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(result.out.empty());
  }
}

TEST_CASE("a file that is not there ends with code 1 and one line", "[e2e]") {
  const ProcessResult result =
      bench({"model", "-m", "/no/such/model.gguf", "--limit-seconds", "0"});
  CHECK(result.exit_code == 1);
  CHECK(result.err.starts_with("r1-bench: error: /no/such/model.gguf"));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK(result.out.empty());
}

TEST_CASE("help fits 80 columns and names the options", "[e2e]") {
  const std::vector<std::pair<Arguments, Arguments>> cases = {
      {{"--help"}, {"roofline", "model"}},
      {{"roofline", "--help"}, {"--threads", "--isa", "--limit-seconds", "--output"}},
      {{"model", "-h"},
       {"--model", "--synthetic", "--type", "--save", "--n-prompt", "--n-gen", "--depth", "--batch",
        "--repetitions", "--threads", "--threads-batch", "--isa", "--limit-seconds", "--output",
        "--huge-pages", "--stages"}}};
  for (const auto& [arguments, names] : cases) {
    const ProcessResult result = bench(arguments);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    for (const std::string& name : names) CHECK(contains(result.out, name));
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(line.size() <= 80);
    }
  }
}

TEST_CASE("r1-bench --version names the tiers", "[e2e]") {
  const ProcessResult result = bench({"--version"});
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("r1-bench " + r1::version()));
  for (const auto& tier : r1::isa_tiers()) CHECK(contains(result.out, "isa " + tier.name + ": "));
}
