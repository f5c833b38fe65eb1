// The cross-compiled r1-generate on emulated ARM CPUs: each takes the best tier that it has, starts
// and gives the reference's first token. Built only where programs run under an emulator.
#include <catch2/catch.hpp>
#include <sstream>
#include <tuple>

#include "tests/e2e/generate_tool.hpp"

namespace r1::e2e {
namespace {

/// r1-generate with `arguments` on `cpu`, one of `qemu-aarch64 -cpu help`; of two -cpu options the
/// last one counts.
support::ProcessResult run_on(const char* cpu, const std::vector<std::string>& arguments) {
  std::istringstream words(R1_EMULATOR);
  std::vector<std::string> line;
  for (std::string word; words >> word;) line.push_back(word);
  return support::run_process(joined(joined(line, {"-cpu", cpu}), command(arguments)));
}

}  // namespace

TEST_CASE("an ARM CPU takes the dot product tier when it has one (R2)", "[e2e]") {
  for (const auto& [cpu, tier, other] :
       {std::tuple{"cortex-a53", "baseline", "neon_dotprod: not on this CPU"},
        std::tuple{"cortex-a72", "baseline", "neon_dotprod: not on this CPU"},
        std::tuple{"cortex-a76", "neon_dotprod", "baseline: available"}}) {
    INFO(cpu);
    const auto version = run_on(cpu, {"--version"});
    INFO(version.out);
    CHECK(version.exit_code == 0);
    CHECK(contains(version.out, std::string("isa ") + tier + ": in use"));
    CHECK(contains(version.out, std::string("isa ") + other));
    CHECK(contains(version.out, "isa avx2: not on this CPU"));
    const auto answer = run_on(cpu, {"--json", "--temp", "0", "-t", "1", "-n", "1", kChickens});
    INFO(answer.err);
    REQUIRE(answer.exit_code == 0);
    const auto report = nlohmann::json::parse(answer.out);
    CHECK(report.at("isa") == tier);
    CHECK(report.at("token_ids").at(0) == chickens_reference().greedy.at(0));
  }
}

}  // namespace r1::e2e
