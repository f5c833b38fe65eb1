// Cases R1 and R2 through r1-generate: more threads than CPUs, and CPUs that lack instructions.
#include <sched.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/e2e/generate_tool.hpp"

namespace r1::e2e {
namespace {

using Arguments = std::vector<std::string>;

/// Leaves this process, and the programs that it starts, one CPU.
class PinnedToOneCpu {
 public:
  PinnedToOneCpu() {
    REQUIRE(::sched_getaffinity(0, sizeof before_, &before_) == 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before_)) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  }
  ~PinnedToOneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }
  PinnedToOneCpu(const PinnedToOneCpu&) = delete;
  PinnedToOneCpu& operator=(const PinnedToOneCpu&) = delete;

 private:
  cpu_set_t before_;
};

/// Path of a program in PATH, or "".
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

}  // namespace

TEST_CASE("any number of threads on one CPU ends with the right answer (R1)", "[e2e]") {
  const PinnedToOneCpu pinned;
  CHECK(generate_json({"-n", "1", kChickens}).at("threads") == 1);
  for (const char* threads : {"1", "2", "3", "16"}) {
    INFO(threads << " threads");
    const auto result = generate({"-t", threads, "--temp", "0", kChickens});
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "鸡有23只"));
    CHECK(contains(result.err, "warning: " + std::string(threads) + " threads were asked for") ==
          (std::string(threads) != "1"));
  }
}

TEST_CASE("CPUs without AVX2 or AVX-512 take a lower tier, and one below all is told so (R2)",
          "[e2e]") {
  std::string emulator = find_program("qemu-x86_64-static");
  if (emulator.empty()) emulator = find_program("qemu-x86_64");
  if (emulator.empty()) {
    WARN("skipped: no qemu-x86_64 (Debian: apt install qemu-user)");
    return;
  }
  const auto run = [&](const char* cpu, const Arguments& arguments) {
    Arguments line = command(arguments);
    line.insert(line.begin(), {emulator, "-cpu", cpu});
    return support::run_process(line);
  };
  for (const auto& [cpu, tier] : {std::pair{"Nehalem", "baseline"}, std::pair{"Haswell", "avx2"}}) {
    INFO(cpu);
    const auto version = run(cpu, {"--version"});
    CHECK(version.exit_code == 0);
    CHECK(contains(version.out, std::string("isa ") + tier + ": in use"));
    const auto answer = run(cpu, {"--json", "--temp", "0", "-n", "1", kChickens});
    REQUIRE(answer.exit_code == 0);
    const auto report = nlohmann::json::parse(answer.out);
    CHECK(report.at("isa") == tier);
    CHECK(report.at("token_ids").at(0) == chickens_reference().greedy.at(0));
  }
  const auto version = run("core2duo", {"--version"});
  CHECK(version.exit_code == 0);
  CHECK(contains(version.out, "isa baseline: not on this CPU"));
  const auto refused = run("core2duo", {"Q"});
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err, "r1-generate: error: isa: this CPU runs none of baseline"));
}

TEST_CASE("huge pages that are not reserved are one warning, and the answer comes all the same",
          "[e2e]") {
  std::int64_t reserved = 0;
  std::ifstream("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages") >> reserved;
  const auto result = generate({"--huge-pages", "--temp", "0", kChickens});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "鸡有23只"));
  const std::string warning = "r1-generate: warning: huge pages: expected ";
  const auto at = result.err.find(warning);
  CHECK((at != std::string::npos) == (reserved == 0));
  if (at == std::string::npos) return;
  CHECK(result.err.find(warning, at + 1) == std::string::npos);
}

}  // namespace r1::e2e
