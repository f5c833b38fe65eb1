// cpu_budget on made-up machines (case R1): quotas of both cgroup versions, masks, hyper-threads,
// hybrids.
#include "libr1/base/cpu_budget.hpp"

#include <sched.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/base/fake_root.hpp"

using r1::base::cpu_budget;
using r1::base::CpuBudget;
using r1::test::FakeRoot;

namespace {

// A mask as /proc/self/status spells it, and one sibling list for each CPU of it.
void add_cpus(FakeRoot& root, const std::string& mask, int cpus, int threads_per_core) {
  root.file("/proc/self/status",
            "Name:\tr1\nCpus_allowed:\tff\nCpus_allowed_list:\t" + mask + "\nMems:\t1\n");
  const int cores = cpus / threads_per_core;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    std::string siblings;
    for (int thread = 0; thread < threads_per_core; ++thread) {
      siblings += (thread == 0 ? "" : ",") + std::to_string(cpu % cores + thread * cores);
    }
    root.file(
        "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
        siblings + "\n");
  }
}

void add_cgroup_v2(FakeRoot& root, const std::string& group) {
  root.file("/proc/self/cgroup", "0::" + group + "\n");
  root.file("/proc/self/mountinfo",
            "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
            "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
}

}  // namespace

TEST_CASE("cgroup v2 quotas (case R1)") {
  struct Row {
    const char* cpu_max;
    double quota;
    int threads;
    const char* reason;
  };
  const Row row =
      GENERATE(Row{"200000 100000\n", 2.0, 2, "cgroup quota of 2 CPUs"},
               Row{"765000 100000\n", 7.65, 7, "cgroup quota of 7.65 CPUs"},
               Row{"max 100000\n", 0.0, 16, "16 physical cores"},
               Row{"50000 100000\n", 0.5, 1, "cgroup quota of 0.5 CPUs"},
               Row{"1600000 100000\n", 16.0, 16, "16 physical cores"},
               Row{"6400000 100000\n", 64.0, 16, "16 physical cores"},
               Row{"200000\n", 0.0, 16, "16 physical cores"}, Row{"", 0.0, 16, "16 physical cores"},
               Row{"0 100000\n", 0.0, 16, "16 physical cores"},
               Row{"200000 0\n", 0.0, 16, "16 physical cores"},
               Row{"-1 100000\n", 0.0, 16, "16 physical cores"},
               Row{"quota period\n", 0.0, 16, "16 physical cores"});
  FakeRoot root;
  add_cpus(root, "0-15", 16, 1);
  add_cgroup_v2(root, "/app");
  root.file("/sys/fs/cgroup/app/cpu.max", row.cpu_max);
  const CpuBudget budget = cpu_budget(root.path());
  INFO(row.cpu_max);
  CHECK(budget.quota == row.quota);
  CHECK(budget.threads == row.threads);
  CHECK(budget.reason == row.reason);
  CHECK(budget.allowed_cpus == 16);
  CHECK(budget.physical_cores == 16);
}

TEST_CASE("the tightest quota on the way up counts") {
  FakeRoot root;
  add_cpus(root, "0-15", 16, 1);
  add_cgroup_v2(root, "/kube.slice/pod:1/app");
  root.file("/sys/fs/cgroup/kube.slice/pod:1/app/cpu.max", "max 100000\n");
  CHECK(cpu_budget(root.path()).threads == 16);
  root.file("/sys/fs/cgroup/kube.slice/cpu.max", "600000 100000\n");
  CHECK(cpu_budget(root.path()).threads == 6);
  root.file("/sys/fs/cgroup/kube.slice/pod:1/cpu.max", "150000 50000\n");
  CHECK(cpu_budget(root.path()).threads == 3);
  root.file("/sys/fs/cgroup/kube.slice/pod:1/app/cpu.max", "400000 100000\n");
  CHECK(cpu_budget(root.path()).threads == 3);
  root.file("/sys/fs/cgroup/kube.slice/other/cpu.max", "100000 100000\n");
  CHECK(cpu_budget(root.path()).threads == 3);
}

TEST_CASE("inside a cgroup namespace the group is /") {
  FakeRoot root;
  add_cpus(root, "0-7", 8, 1);
  add_cgroup_v2(root, "/");
  root.file("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  CHECK(cpu_budget(root.path()).threads == 3);
}

TEST_CASE("a group outside the namespace, or below a bind mount, is read at the mount point") {
  for (const std::string group :
       {"/../other", "/docker/0123", "/docker/0123/child", "/dockerish"}) {
    FakeRoot root;
    add_cpus(root, "0-7", 8, 1);
    root.file("/proc/self/cgroup", "0::" + group + "\n");
    root.file("/proc/self/mountinfo",
              "30 22 0:26 /docker/0123 /sys/fs/c\\040group ro - cgroup2 cgroup rw,nsdelegate\n");
    root.file("/sys/fs/c group/cpu.max", "500000 100000\n");
    INFO(group);
    CHECK(cpu_budget(root.path()).threads == 5);
    root.file("/sys/fs/c group/child/cpu.max", "200000 100000\n");
    CHECK(cpu_budget(root.path()).threads == (group == "/docker/0123/child" ? 2 : 5));
  }
}

TEST_CASE("cgroup v1 quotas (case R1)") {
  struct Row {
    const char* quota;
    const char* period;
    int threads;
  };
  const Row row = GENERATE(Row{"200000\n", "100000\n", 2}, Row{"-1\n", "100000\n", 8},
                           Row{"25000\n", "50000\n", 1}, Row{"399999\n", "100000\n", 3},
                           Row{"200000\n", "0\n", 8}, Row{"0\n", "100000\n", 8});
  for (const std::string mounted : {"cpu,cpuacct", "cpu"}) {
    FakeRoot root;
    add_cpus(root, "0-7", 8, 1);
    root.file("/proc/self/cgroup",
              "12:cpuset:/x\n9:name=systemd:/\n4:" + mounted + ":/docker/ab\n0::/\n");
    root.file("/proc/self/mountinfo",
              "33 31 0:29 /x /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
              "32 31 0:29 / /sys/fs/cgroup/" +
                  mounted + " rw - cgroup cgroup rw," + mounted +
                  "\n"
                  "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    const std::string directory = "/sys/fs/cgroup/" + mounted + "/docker/ab";
    root.file(directory + "/cpu.cfs_quota_us", row.quota);
    root.file(directory + "/cpu.cfs_period_us", row.period);
    INFO(mounted << " " << row.quota << row.period);
    CHECK(cpu_budget(root.path()).threads == row.threads);
  }
}

TEST_CASE("a quota of a v1 parent counts, and so does one at the mount point") {
  FakeRoot root;
  add_cpus(root, "0-7", 8, 1);
  root.file("/proc/self/cgroup", "4:cpu:/a/b\n");
  root.file("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  root.file("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
  root.file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "500000\n");
  root.file("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  CHECK(cpu_budget(root.path()).threads == 5);
  root.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
  root.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(cpu_budget(root.path()).threads == 4);
}

TEST_CASE("hyper-threads of one core count once, and only CPUs in the mask count") {
  struct Row {
    const char* mask;
    int allowed;
    int cores;
  };
  // 8 CPUs, 4 cores: CPU n and n + 4 share a core.
  const Row row = GENERATE(Row{"0-7", 8, 4}, Row{"0-3", 4, 4}, Row{"0,4", 2, 1}, Row{"3", 1, 1},
                           Row{"0-1,4-5", 4, 2}, Row{"0-4", 5, 4}, Row{"1,3", 2, 2});
  FakeRoot root;
  add_cpus(root, row.mask, 8, 2);
  const CpuBudget budget = cpu_budget(root.path());
  INFO(row.mask);
  CHECK(budget.allowed_cpus == row.allowed);
  CHECK(budget.physical_cores == row.cores);
  CHECK(budget.threads == row.cores);
  CHECK(budget.reason ==
        std::to_string(row.cores) + (row.cores == 1 ? " physical core" : " physical cores"));
}

TEST_CASE("without sibling lists, package and core number name the core") {
  FakeRoot root;
  root.file("/proc/self/status", "Cpus_allowed_list:\t0-7\n");
  for (int cpu = 0; cpu < 8; ++cpu) {  // two sockets with cores 0 and 1, two threads each
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    root.file(topology + "core_id", std::to_string(cpu % 2) + "\n");
    root.file(topology + "physical_package_id", std::to_string(cpu / 4) + "\n");
  }
  CHECK(cpu_budget(root.path()).physical_cores == 4);
}

TEST_CASE("without topology every CPU is a core") {
  FakeRoot root;
  root.file("/proc/self/status", "Cpus_allowed_list:\t0-3\n");
  CHECK(cpu_budget(root.path()).threads == 4);
  for (int cpu = 0; cpu < 4; ++cpu) {  // firmware that knows nothing says -1
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    root.file(topology + "core_id", "-1\n").file(topology + "physical_package_id", "-1\n");
  }
  CHECK(cpu_budget(root.path()).threads == 4);
}

TEST_CASE("a hybrid runs on its performance cores unless the mask has none") {
  FakeRoot root;  // 2 performance cores with two threads, 4 efficiency cores
  root.file("/proc/self/status", "Cpus_allowed_list:\t0-7\n");
  for (int cpu = 0; cpu < 8; ++cpu) {
    const std::string siblings = cpu < 4 ? (cpu < 2 ? "0-1" : "2-3") : std::to_string(cpu);
    root.file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/core_cpus_list",
              siblings);
  }
  root.file("/sys/devices/cpu_core/cpus", "0-3\n").file("/sys/devices/cpu_atom/cpus", "4-7\n");
  CpuBudget budget = cpu_budget(root.path());
  CHECK(budget.physical_cores == 6);
  CHECK(budget.threads == 2);
  CHECK(budget.reason == "2 performance cores");
  root.file("/proc/self/status", "Cpus_allowed_list:\t5-7\n");
  budget = cpu_budget(root.path());
  CHECK(budget.threads == 3);
  CHECK(budget.reason == "3 physical cores");
}

TEST_CASE("an empty or broken tree gives one thread, or the CPUs that are online") {
  FakeRoot root;
  CHECK(cpu_budget(root.path()).threads == 1);
  root.file("/sys/devices/system/cpu/online", "0-2\n");
  CHECK(cpu_budget(root.path()).threads == 3);
  for (const std::string list : {"", "x", "-", "3-1", "99999999999", "5-99999999", "0-"}) {
    root.file("/proc/self/status", "Cpus_allowed_list:\t" + list + "\n");
    INFO(list);
    CHECK(cpu_budget(root.path()).threads == 3);
  }
  for (const std::string line :
       {"", ":", "0", "0:", "::", "0::relative", "a:b:c:d", "0::/\n0::/x"}) {
    root.file("/proc/self/cgroup", line + "\n")
        .file("/proc/self/mountinfo", line + " - \n1 2 3 - cgroup2\n");
    INFO(line);
    CHECK(cpu_budget(root.path()).threads == 3);
  }
}

TEST_CASE("the real machine: masks of one and two CPUs") {
  cpu_set_t saved;
  REQUIRE(sched_getaffinity(0, sizeof(saved), &saved) == 0);
  const CpuBudget whole = cpu_budget();
  CHECK(whole.allowed_cpus == CPU_COUNT(&saved));
  CHECK(whole.threads >= 1);
  CHECK(whole.threads <= whole.physical_cores);
  CHECK(whole.physical_cores <= whole.allowed_cpus);
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int wanted = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && wanted < 2; ++cpu) {
    if (!CPU_ISSET(cpu, &saved)) continue;
    CPU_SET(cpu, &mask);
    ++wanted;
    REQUIRE(sched_setaffinity(0, sizeof(mask), &mask) == 0);
    CHECK(cpu_budget().allowed_cpus == wanted);
    CHECK(cpu_budget().threads <= wanted);
  }
  sched_setaffinity(0, sizeof(saved), &saved);
}
