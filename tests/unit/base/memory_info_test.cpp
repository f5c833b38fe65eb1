// process_memory and memory_budget on made-up trees and on the real machine (case R4).
#include "libr1/base/memory_info.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "r1/error.hpp"
#include "tests/unit/base/fake_root.hpp"

using r1::base::huge_page_shortage;
using r1::base::memory_budget;
using r1::base::MemoryBudget;
using r1::base::process_memory;
using r1::base::ProcessMemory;
using r1::test::FakeRoot;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

void add_meminfo(FakeRoot& root) {
  root.file(
      "/proc/meminfo",
      "MemTotal:        8388608 kB\nMemFree:          100000 kB\nMemAvailable:    2097152 kB\n"
      "Buffers:              0 kB\n");
}

}  // namespace

TEST_CASE("process memory is read from the status file") {
  FakeRoot root;
  root.file(
      "/proc/self/status",
      "Name:\tVmRSS: 1 kB\nVmPeak:\t  9000 kB\nVmLck:\t      16 kB\nVmHWM:\t    5000 kB\n"
      "VmRSS:\t    4000 kB\nRssAnon:\t     300 kB\nRssFile:\t    3700 kB\nVmSwap:\t       8 kB\n");
  const ProcessMemory memory = process_memory(root.path());
  CHECK(memory.rss == 4000 * 1024);
  CHECK(memory.rss_peak == 5000 * 1024);
  CHECK(memory.rss_anon == 300 * 1024);
  CHECK(memory.swap == 8 * 1024);
  CHECK(memory.locked == 16 * 1024);
}

TEST_CASE("what the system does not say is 0") {
  FakeRoot root;
  CHECK(process_memory(root.path()).rss == 0);
  root.file("/proc/self/status",
            "VmRSS:\nVmHWM: x kB\nRssAnon: 99999999999999999999 kB\nVmSwap: -5 kB");
  const ProcessMemory memory = process_memory(root.path());
  CHECK(memory.rss == 0);
  CHECK(memory.rss_peak == 0);
  CHECK(memory.rss_anon == 0);
  CHECK(memory.swap == 0);
}

TEST_CASE("the real process: touched memory shows, and the peak stays") {
  const ProcessMemory before = process_memory();
  REQUIRE(before.rss > 0);
  CHECK(before.rss_peak >= before.rss);
  CHECK(before.rss_anon <= before.rss);
  {
    const auto memory = std::make_unique<char[]>(64 * kMiB);
    std::memset(memory.get(), 1, 64 * kMiB);
    CHECK(process_memory().rss_anon - before.rss_anon > 60 * kMiB);
  }
  CHECK(process_memory().rss_peak >= before.rss + 60 * kMiB);
}

TEST_CASE("without a cgroup limit, what is available is allowed") {
  FakeRoot root;
  add_meminfo(root);
  const MemoryBudget budget = memory_budget(root.path());
  CHECK(budget.total == 8192 * kMiB);
  CHECK(budget.available == 2048 * kMiB);
  CHECK(budget.cgroup_limit == 0);
  CHECK(budget.allowed == 2048 * kMiB);
  CHECK(budget.reason == "2.0 GiB available");
}

TEST_CASE("cgroup v2: the group with least room decides, droppable file pages are room") {
  FakeRoot root;
  add_meminfo(root);
  root.file("/proc/self/cgroup", "0::/slice/app\n");
  root.file("/sys/fs/cgroup/slice/app/memory.max", "max\n");
  root.file("/sys/fs/cgroup/slice/app/memory.current", "104857600\n");
  CHECK(memory_budget(root.path()).cgroup_limit == 0);

  root.file("/sys/fs/cgroup/slice/app/memory.max", "314572800\n");
  MemoryBudget budget = memory_budget(root.path());
  CHECK(budget.cgroup_limit == 300 * kMiB);
  CHECK(budget.cgroup_used == 100 * kMiB);
  CHECK(budget.allowed == 200 * kMiB);
  CHECK(budget.reason == "cgroup limit of 300.0 MiB, 100.0 MiB in use");

  root.file("/sys/fs/cgroup/slice/app/memory.stat",
            "anon 41943040\nfile 62914560\ninactive_file 41943040\nactive_file 10485760\n");
  CHECK(memory_budget(root.path()).cgroup_used == 50 * kMiB);
  CHECK(memory_budget(root.path()).allowed == 250 * kMiB);

  root.file("/sys/fs/cgroup/slice/memory.max", "524288000\n");
  root.file("/sys/fs/cgroup/slice/memory.current", "503316480\n");
  budget = memory_budget(root.path());
  CHECK(budget.cgroup_limit == 500 * kMiB);
  CHECK(budget.allowed == 20 * kMiB);

  root.file("/sys/fs/cgroup/slice/memory.current", "600000000\n");
  CHECK(memory_budget(root.path()).allowed == 0);
}

TEST_CASE("cgroup v1: limit, and the number that means none") {
  FakeRoot root;
  add_meminfo(root);
  root.file("/proc/self/cgroup", "5:memory:/docker/1\n0::/\n");
  const std::string directory = "/sys/fs/cgroup/memory/docker/1";
  root.file(directory + "/memory.limit_in_bytes", "9223372036854771712\n");
  root.file(directory + "/memory.usage_in_bytes", "104857600\n");
  CHECK(memory_budget(root.path()).cgroup_limit == 0);
  CHECK(memory_budget(root.path()).allowed == 2048 * kMiB);
  root.file(directory + "/memory.limit_in_bytes", "1073741824\n");
  CHECK(memory_budget(root.path()).allowed == 924 * kMiB);
  root.file(directory + "/memory.stat", "cache 1\ntotal_inactive_file 52428800\ninactive_file 1\n");
  CHECK(memory_budget(root.path()).allowed == 974 * kMiB);
}

TEST_CASE("a limit with more room than the machine has does not count") {
  FakeRoot root;
  add_meminfo(root);
  root.file("/proc/self/cgroup", "0::/app\n");
  root.file("/sys/fs/cgroup/app/memory.max", "34359738368\n")
      .file("/sys/fs/cgroup/app/memory.current", "0\n");
  const MemoryBudget budget = memory_budget(root.path());
  CHECK(budget.allowed == 2048 * kMiB);
  CHECK(budget.reason == "2.0 GiB available");
}

TEST_CASE("an unknown machine allows an unknown amount, unless a cgroup says how much") {
  FakeRoot root;
  CHECK(memory_budget(root.path()).allowed == -1);
  CHECK(memory_budget(root.path()).reason == "available memory unknown");
  root.file("/proc/self/cgroup", "0::/\n").file("/sys/fs/cgroup/memory.max", "1048576\n");
  CHECK(memory_budget(root.path()).allowed == kMiB);
}

TEST_CASE("the real machine says something") {
  const MemoryBudget budget = memory_budget();
  CHECK(budget.total > 0);
  CHECK(budget.available > 0);
  CHECK(budget.available <= budget.total);
  CHECK(budget.allowed <= budget.available);
}

TEST_CASE("what cannot be held is refused with the numbers (R4)") {
  MemoryBudget budget;
  budget.allowed = 300 * kMiB;
  budget.reason = "cgroup limit of 512.0 MiB, 212.0 MiB in use";
  CHECK_NOTHROW(require_memory("packed weights", 300 * kMiB, budget));
  try {
    require_memory("packed weights", 1200 * kMiB, budget);
    FAIL("no error");
  } catch (const r1::Error& error) {
    CHECK(error.code() == r1::ErrorCode::out_of_memory);
    CHECK(std::string(error.what()) ==
          "packed weights: expected room for 1.2 GiB, got 300.0 MiB (cgroup limit of 512.0 MiB, "
          "212.0 MiB in use)");
  }
  budget.allowed = -1;
  CHECK_NOTHROW(require_memory("packed weights", std::numeric_limits<std::int64_t>::max(), budget));
}

TEST_CASE("a shortage of huge pages is told with the numbers and the remedy") {
  FakeRoot root;
  CHECK(huge_page_shortage(1, root.path()) ==
        "huge pages: expected 1 reserved pages of 2 MiB, got a system without any; normal pages "
        "are used");
  const std::string folder = "/sys/kernel/mm/hugepages/hugepages-2048kB";
  root.file(folder + "/nr_hugepages", "10\n")
      .file(folder + "/free_hugepages", "7\n")
      .file(folder + "/resv_hugepages", "3\n");
  // 4 are free and not promised; 6 are in use or promised, 501 come on top.
  CHECK(huge_page_shortage(1000 * kMiB + 1, root.path()) ==
        "huge pages: expected 501 free reserved pages of 2 MiB, got 4 of 10; normal pages are used "
        "(sysctl vm.nr_hugepages=507 as root reserves enough)");
}
