// Calls of r1-generate for its tests.
#include "tests/e2e/generate_tool.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <utility>

namespace r1::e2e {

std::vector<std::string> command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), R1_GENERATE);
  return arguments;
}

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

support::ProcessResult generate(std::vector<std::string> arguments,
                                const support::ProcessOptions& options) {
  return support::run_process(command(std::move(arguments)), options);
}

nlohmann::json generate_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--json");
  const support::ProcessResult result = generate(std::move(arguments));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.out);
}

support::ReferenceCase chickens_reference() {
  const auto cases = support::reference_cases();
  const auto at =
      std::find_if(cases.begin(), cases.end(), [](const auto& c) { return c.id == "required-0"; });
  if (at == cases.end()) throw std::runtime_error("reference.json has no case required-0");
  return *at;
}

std::string write_model(const testing::TempFolder& folder, const std::string& name,
                        const std::vector<std::byte>& image) {
  return folder.write(name, {reinterpret_cast<const char*>(image.data()), image.size()});
}

std::size_t line_count(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace r1::e2e
