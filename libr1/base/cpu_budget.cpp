// Counts what this process may really use. The host's core count is never the answer by itself: a
// container may hold a quota, a mask, or both.
#include "libr1/base/cpu_budget.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "libr1/base/cgroup.hpp"

namespace r1::base {
namespace {

constexpr int kCpusMax = 1 << 16;

// "0-3,8,10-11", as in cpulist files (Linux: Documentation/admin-guide/cputopology.rst).
std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc{}) break;
    int last = first;
    if (parsed.ptr < end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
      if (parsed.ec != std::errc{}) break;
    }
    if (first < 0 || last >= kCpusMax) break;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (parsed.ptr >= end || *parsed.ptr != ',') break;
    at = parsed.ptr + 1;
  }
  return cpus;
}

std::vector<int> read_cpu_list(const std::string& path) {
  return parse_cpu_list(read_small_file(path).value_or(""));
}

std::vector<int> cpus_of_affinity_call() {
  // The kernel's mask may be wider than cpu_set_t; it says so with EINVAL.
  for (int bits = 1024; bits <= kCpusMax; bits *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(bits));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(bits));
    std::vector<int> cpus;
    if (sched_getaffinity(0, bytes, set) == 0) {
      for (int cpu = 0; cpu < bits; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
      }
    }
    CPU_FREE(set);
    if (!cpus.empty()) return cpus;
  }
  return {};
}

std::vector<int> cpus_of_status_file(const std::string& root) {
  const std::string status = read_small_file(root + "/proc/self/status").value_or("");
  constexpr std::string_view kKey = "Cpus_allowed_list:\t";
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return {};
  return parse_cpu_list(std::string_view(status).substr(at + kKey.size()));
}

// The CPUs of one core have one sibling list; without one, package, die and core number name the
// core. A CPU that says neither (ARM without topology, some sandboxes) counts as a core.
std::string core_name(const std::string& root, int cpu) {
  const std::string topology = fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/", root, cpu);
  for (const char* file : {"core_cpus_list", "thread_siblings_list"}) {
    const std::vector<int> siblings = read_cpu_list(topology + file);
    if (std::find(siblings.begin(), siblings.end(), cpu) != siblings.end()) {
      return fmt::format("siblings of {}", siblings.front());
    }
  }
  const std::int64_t core = read_number(topology + "core_id").value_or(-1);
  const std::int64_t package = read_number(topology + "physical_package_id").value_or(-1);
  if (core < 0 || package < 0) return fmt::format("cpu {}", cpu);
  return fmt::format("{}/{}/{}", package, read_number(topology + "die_id").value_or(0), core);
}

int count_cores(const std::string& root, const std::vector<int>& cpus) {
  std::set<std::string> cores;
  for (const int cpu : cpus) cores.insert(core_name(root, cpu));
  return static_cast<int>(cores.size());
}

// A team's phases end when its slowest member ends, so on Intel hybrids the efficiency cores are
// left out.
std::vector<int> without_efficiency_cpus(const std::string& root, const std::vector<int>& cpus) {
  const std::vector<int> efficiency = read_cpu_list(root + "/sys/devices/cpu_atom/cpus");
  std::vector<int> result;
  std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(result), [&](int cpu) {
    return std::find(efficiency.begin(), efficiency.end(), cpu) == efficiency.end();
  });
  return result.empty() ? cpus : result;
}

void lower(double& quota, double cpus) { quota = quota == 0 ? cpus : std::min(quota, cpus); }

// The tightest quota on the way up, in CPUs; 0 when there is none.
double cgroup_quota(const std::string& root) {
  double quota = 0;
  for (const std::string& directory : cgroup_v2_directories(root)) {
    const std::string text =
        read_small_file(directory + "/cpu.max").value_or("");  // "200000 100000"
    std::int64_t allowed = 0;
    std::int64_t period = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, allowed);
    if (first.ec != std::errc{} || first.ptr == end) continue;  // "max 100000"
    if (std::from_chars(first.ptr + 1, end, period).ec != std::errc{}) continue;
    if (allowed > 0 && period > 0)
      lower(quota, static_cast<double>(allowed) / static_cast<double>(period));
  }
  for (const std::string& directory : cgroup_v1_directories(root, "cpu")) {
    const std::int64_t allowed = read_number(directory + "/cpu.cfs_quota_us").value_or(-1);
    const std::int64_t period = read_number(directory + "/cpu.cfs_period_us").value_or(0);
    if (allowed > 0 && period > 0)
      lower(quota, static_cast<double>(allowed) / static_cast<double>(period));
  }
  return quota;
}

std::string plural(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

CpuBudget cpu_budget(const std::string& root) {
  std::vector<int> cpus = root.empty() ? cpus_of_affinity_call() : cpus_of_status_file(root);
  if (cpus.empty()) cpus = read_cpu_list(root + "/sys/devices/system/cpu/online");
  if (cpus.empty() && root.empty()) {
    for (int cpu = 0; cpu < std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)); ++cpu) cpus.push_back(cpu);
  }
  if (cpus.empty()) cpus.push_back(0);

  CpuBudget budget;
  budget.allowed_cpus = static_cast<int>(cpus.size());
  budget.physical_cores = count_cores(root, cpus);
  budget.quota = cgroup_quota(root);
  const std::vector<int> fast = without_efficiency_cpus(root, cpus);
  const bool hybrid = fast.size() < cpus.size();
  budget.threads = hybrid ? count_cores(root, fast) : budget.physical_cores;
  budget.reason = plural(budget.threads, hybrid ? "performance core" : "physical core");
  if (budget.quota > 0 && std::floor(budget.quota) < budget.threads) {
    budget.threads = std::max(1, static_cast<int>(budget.quota));
    budget.reason = fmt::format("cgroup quota of {:.4g} CPUs", budget.quota);
  }
  return budget;
}

}  // namespace r1::base
