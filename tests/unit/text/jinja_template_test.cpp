// Whole templates against what Python's Jinja2 made of them: constructs one by one, then real
// templates.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "libr1/text/jinja/template.hpp"

namespace {

using namespace r1::text::jinja;
using Json = nlohmann::ordered_json;

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream.good());
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// 2024-07-05 13:00, a Friday.
std::tm test_time() {
  std::tm time{};
  time.tm_year = 124;
  time.tm_mon = 6;
  time.tm_mday = 5;
  time.tm_wday = 5;
  time.tm_hour = 13;
  time.tm_yday = 186;
  return time;
}

std::string render(const std::string& source, const std::string& variables_json) {
  Runtime runtime;
  runtime.now = test_time;
  const Value variables = from_json(runtime, variables_json, "variables");
  return Template::parse(source).render(runtime, *variables.as_object()).bytes();
}

/// Renders every conversation of `folder`/rendered.json; returns their number.
int check_rendered(const std::string& folder) {
  const Json cases = Json::parse(read_file(folder + "/rendered.json"));
  for (const Json& one : cases) {
    const std::string name = one["template"];
    INFO(name << ": " << one["case"]);
    CHECK(render(read_file(folder + "/" + name), one["variables"].dump()) ==
          one["expected"].get<std::string>());
  }
  return static_cast<int>(cases.size());
}

}  // namespace

TEST_CASE("jinja: constructs render as Jinja2 renders them", "[text][jinja]") {
  const Json file =
      Json::parse(read_file(std::string(R1_TEST_DATA) + "/templates/jinja_cases.json"));
  REQUIRE(file["cases"].size() > 60);
  for (const Json& one : file["cases"]) {
    const std::string source = one["template"];
    INFO(source);
    CHECK(render(source, file["variables"]) == one["expected"].get<std::string>());
  }
}

TEST_CASE("jinja: real templates render as Jinja2 renders them", "[text][jinja]") {
  CHECK(check_rendered(std::string(R1_TEST_DATA) + "/templates") == 30);
  const std::string peer = std::string(R1_SHARED) + "/peer-data/templates";
  if (std::filesystem::exists(peer)) CHECK(check_rendered(peer) == 60);
}

TEST_CASE("jinja: JSON text keeps its values and order", "[text][jinja]") {
  // Python: json.dumps(json.loads(text), ensure_ascii=False).
  const auto same = [](const std::string& json) {
    Runtime runtime;
    return to_json(runtime, from_json(runtime, json, "x"), {}).bytes();
  };
  CHECK(same(R"({"z":1,"a":{"y":[],"b":{}},"z2":[1,-2,3.50,1e3,true,false,null]})") ==
        R"({"z": 1, "a": {"y": [], "b": {}}, "z2": [1, -2, 3.5, 1000.0, true, false, null]})");
  CHECK(same("\"\\u00e9\\u4e2d\\ud83d\\ude00\\u007f\\u0001/\\/\"") ==
        "\"\u00e9\u4e2d\U0001F600\x7f\\u0001//\"");
  CHECK(same(R"({"a":1,"b":2,"a":3})") == R"({"a": 3, "b": 2})");
  CHECK(same("9223372036854775807") == "9223372036854775807");
}
