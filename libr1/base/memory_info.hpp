// How much memory this process takes and how much it may still take (case R4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace r1::base {

/// Memory of this process in bytes, from /proc/self/status. 0 where the system does not say.
struct ProcessMemory {
  std::int64_t rss = 0;       ///< resident now (VmRSS)
  std::int64_t rss_peak = 0;  ///< resident at most so far (VmHWM)
  std::int64_t rss_anon = 0;  ///< resident and not of a file (RssAnon)
  std::int64_t swap = 0;      ///< swapped out (VmSwap)
  std::int64_t locked = 0;    ///< locked (VmLck)
};

/// Reads this process. `root` is put before /proc, so that tests can use a made-up tree.
ProcessMemory process_memory(const std::string& root = "");

/// What the machine and the control group allow, in bytes.
struct MemoryBudget {
  std::int64_t total = 0;         ///< MemTotal; 0: unknown
  std::int64_t available = 0;     ///< MemAvailable: free, or file pages that can be dropped
  std::int64_t cgroup_limit = 0;  ///< limit of the group that has least room left; 0: no limit
  std::int64_t cgroup_used = 0;   ///< what that group uses, without the file pages it can drop
  std::int64_t allowed = 0;  ///< what this process may still take: the least of all; -1: unknown
  std::string reason;        ///< for people: "3.1 GiB available", "cgroup limit of 300.0 MiB, ..."
};

/// Reads the machine. `root` is put before /proc and /sys.
MemoryBudget memory_budget(const std::string& root = "");

/// Refuses to begin what cannot be held: throws Error{out_of_memory} with the numbers when `what`
/// needs more `bytes` than `budget` allows. An unknown budget allows all.
void require_memory(std::string_view what, std::int64_t bytes, const MemoryBudget& budget);

/// One line for people whose wish for reserved huge pages of 2 MiB was not granted: how many
/// `bytes` need, how many are free, how to reserve them. `root` is put before /sys.
std::string huge_page_shortage(std::int64_t bytes, const std::string& root = "");

}  // namespace r1::base
