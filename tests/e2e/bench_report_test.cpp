// What r1-bench reports of the demo model: every row, in every format, with numbers that are
// numbers. How fast it was is not looked at.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/process.hpp"
#include "tests/support/tiny_r1.hpp"

using Arguments = std::vector<std::string>;
using nlohmann::json;
using r1::support::ProcessResult;

namespace {

// Limits of a small buffer are none, but they are there in no time.
const Arguments kQuick = {"--limit-seconds", "0.001", "--limit-mib", "1"};

std::string bench(Arguments arguments, const Arguments& more = {}) {
  arguments.insert(arguments.begin(), R1_BENCH_TOOL);
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ProcessResult result = r1::support::run_process(arguments);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  return result.out;
}

const std::vector<std::string> kFields = {"test",
                                          "model",
                                          "type",
                                          "isa",
                                          "threads",
                                          "n_prompt",
                                          "n_gen",
                                          "depth",
                                          "batch",
                                          "tokens_per_s_median",
                                          "tokens_per_s_p5",
                                          "tokens_per_s_p95",
                                          "limit_share",
                                          "value",
                                          "unit"};

Arguments model_run() {
  Arguments arguments = {"model",   "-m",   r1::support::embedded_path(),
                         "-p",      "8,40", "-n",
                         "3",       "-d",   "0,33",
                         "--batch", "1,3",  "-r",
                         "2"};
  arguments.insert(arguments.end(), kQuick.begin(), kQuick.end());
  return arguments;
}

void check_fields(const json& row) {
  for (const std::string& field : kFields) {
    INFO(field);
    REQUIRE(row.contains(field));
    if (row.at(field).is_number()) {
      CHECK(std::isfinite(row.at(field).get<double>()));
      CHECK(row.at(field).get<double>() >= 0);
    } else {
      CHECK(row.at(field).is_string());
    }
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("JSON has a row for every prompt, depth and batch", "[e2e]") {
  const json rows = json::parse(bench(model_run(), {"-o", "json"}));
  REQUIRE(rows.is_array());
  std::map<std::string, int> count;
  std::vector<std::tuple<std::int64_t, std::int64_t>> prefill, decode;
  for (const json& row : rows) {
    INFO(row.dump());
    check_fields(row);
    const auto test = row.at("test").get<std::string>();
    ++count[test];
    CHECK_FALSE(row.at("unit").get<std::string>().empty());
    if (test == "prefill") {
      prefill.emplace_back(row.at("n_prompt"), row.at("depth"));
      CHECK(row.at("n_gen") == 0);
      CHECK(row.at("batch") == 1);
    } else if (test == "decode") {
      decode.emplace_back(row.at("depth"), row.at("batch"));
      CHECK(row.at("n_prompt") == 0);
      CHECK(row.at("n_gen") == 3);
    }
    if (test != "prefill" && test != "decode") continue;
    CHECK(row.at("model") == "tiny-r1");
    CHECK(row.at("type") == "Q8_0");
    CHECK(row.at("limit_share") > 0);
    CHECK(row.at("tokens_per_s_p5") > 0);
    CHECK(row.at("tokens_per_s_p5") <= row.at("tokens_per_s_median"));
    CHECK(row.at("tokens_per_s_median") <= row.at("tokens_per_s_p95"));
  }
  CHECK(prefill ==
        std::vector<std::tuple<std::int64_t, std::int64_t>>{{8, 0}, {40, 0}, {8, 33}, {40, 33}});
  CHECK(decode ==
        std::vector<std::tuple<std::int64_t, std::int64_t>>{{0, 1}, {0, 3}, {33, 1}, {33, 3}});
  for (const char* test :
       {"read", "read_huge_pages", "multiply_bytes", "multiply_float32", "multiply_bfloat16",
        "barrier", "pack", "load", "load_memory", "memory"}) {
    INFO(test);
    CHECK(count[test] == 1);
  }
}

TEST_CASE("--stages adds the parts of a step", "[e2e]") {
  const json rows =
      json::parse(bench({"model", "-m", r1::support::embedded_path(), "-p", "600", "-n", "2", "-r",
                         "1", "--limit-seconds", "0", "--stages", "-o", "json"}));
  std::map<std::string, int> count;
  for (const json& row : rows) {
    check_fields(row);
    ++count[row.at("test").get<std::string>()];
  }
  for (const std::string test : {"prefill", "decode"}) {
    for (const char* part : {"embedding", "attention", "o", "gate_up", "down", "output"}) {
      INFO(test << " " << part);
      CHECK(count[test + "_" + part] == 1);
    }
  }
}

TEST_CASE("tests that are switched off leave no rows", "[e2e]") {
  const json rows = json::parse(bench({"model", "-m", r1::support::embedded_path(), "-p", "0", "-n",
                                       "0", "--limit-seconds", "0", "-o", "json"}));
  for (const json& row : rows) {
    CHECK(row.at("test") != "prefill");
    CHECK(row.at("test") != "decode");
    CHECK(row.at("test") != "read");
    CHECK(row.at("limit_share") == 0);
  }
  CHECK(rows.size() == 4);
}

TEST_CASE("CSV has the fields of JSON, Markdown and the table a line a row", "[e2e]") {
  const auto csv = lines_of(bench(model_run(), {"-o", "csv"}));
  std::string header;
  for (const std::string& field : kFields) header += (header.empty() ? "" : ",") + field;
  CHECK(csv.front() == header);
  CHECK(csv.size() > 15);
  for (const std::string& line : csv) {
    INFO(line);
    CHECK(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) ==
          kFields.size() - 1);
  }

  const auto md = lines_of(bench(model_run(), {"-o", "md"}));
  REQUIRE(md.size() > 15);
  CHECK(md.front().starts_with("tiny-r1, Q8_0, "));
  CHECK(md[1].empty());
  for (std::size_t i = 2; i < md.size(); ++i) {
    INFO(md[i]);
    CHECK(std::count(md[i].begin(), md[i].end(), '|') == 10);
  }

  const auto table = lines_of(bench(model_run()));
  REQUIRE(table.size() > 15);
  CHECK(table.front().starts_with("tiny-r1, Q8_0, "));
  for (const std::string& line : table) {
    INFO(line);
    CHECK(line.size() <= 100);
  }
}

TEST_CASE("roofline reports limits alone", "[e2e]") {
  Arguments arguments = {"roofline", "-t", "1", "-o", "json"};
  arguments.insert(arguments.end(), kQuick.begin(), kQuick.end());
  const json rows = json::parse(bench(arguments));
  CHECK(rows.size() == 6);
  for (const json& row : rows) {
    INFO(row.dump());
    check_fields(row);
    CHECK(row.at("threads") == 1);
    CHECK(row.at("model") == "");
    if (row.at("test") != "multiply_bfloat16") CHECK(row.at("value") > 0);
  }
}
