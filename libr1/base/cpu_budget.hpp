// How many threads this process should run: physical cores, affinity mask, cgroup quota (case R1).
#pragma once

#include <string>

namespace r1::base {

/// A thread count and why it is that.
struct CpuBudget {
  int threads = 1;         ///< min(physical cores in the mask, floor(quota)), at least 1
  int allowed_cpus = 1;    ///< CPUs in the affinity mask
  int physical_cores = 1;  ///< distinct cores among them
  double quota = 0;        ///< CPUs the cgroup allows; 0: no limit
  std::string reason;      ///< for people: "2 physical cores", "cgroup quota of 1.5 CPUs"
};

/// Reads the machine. `root` is put before /proc and /sys, so that tests can use a made-up tree.
CpuBudget cpu_budget(const std::string& root = "");

}  // namespace r1::base
