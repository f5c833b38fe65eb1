// Numbers from /proc and the control groups. Swap is left out on purpose: weights that are swapped
// out make an engine thousands of times slower, so a plan must not count on it.
#include "libr1/base/memory_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "libr1/base/cgroup.hpp"
#include "r1/error.hpp"

namespace r1::base {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

// Lines of /proc/self/status and /proc/meminfo are in KiB, whatever their "kB" says.
std::int64_t kib_line(std::string_view text, std::string_view key) {
  const std::int64_t value = find_number(text, key).value_or(0);
  return value >= 0 && value <= kNone / 1024 ? value * 1024 : 0;
}

struct GroupFiles {
  const char* limit;
  const char* used;
  const char* active;  // keys of memory.stat
  const char* inactive;
};

// v1's plain keys leave out child groups; the total_ ones are what the limit counts.
constexpr GroupFiles kV2{"/memory.max", "/memory.current", "active_file", "inactive_file"};
constexpr GroupFiles kV1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_active_file",
                         "total_inactive_file"};

// v1 says "no limit" with a huge number of whole pages.
constexpr std::int64_t kLimitMax = std::int64_t{1} << 60;

struct Group {
  std::int64_t limit;
  std::int64_t used;
  std::int64_t room() const { return std::max<std::int64_t>(limit - used, 0); }
};

std::optional<Group> read_group(const std::string& directory, const GroupFiles& files) {
  const std::optional<std::int64_t> limit = read_number(directory + files.limit);
  if (!limit || *limit < 0 || *limit >= kLimitMax) return std::nullopt;
  const std::int64_t used =
      std::max<std::int64_t>(read_number(directory + files.used).value_or(0), 0);
  const std::string stat = read_small_file(directory + "/memory.stat").value_or("");
  const auto file_pages = [&](const char* key) {
    return std::clamp<std::int64_t>(find_number(stat, key).value_or(0), 0, used);
  };
  const std::int64_t droppable =
      std::min(file_pages(files.active) + file_pages(files.inactive), used);
  return Group{*limit, used - droppable};
}

std::optional<Group> tightest_group(const std::string& root) {
  std::optional<Group> tightest;
  const auto look_at = [&](const std::vector<std::string>& directories, const GroupFiles& files) {
    for (const std::string& directory : directories) {
      const std::optional<Group> group = read_group(directory, files);
      if (group && (!tightest || group->room() < tightest->room())) tightest = group;
    }
  };
  look_at(cgroup_v2_directories(root), kV2);
  look_at(cgroup_v1_directories(root, "memory"), kV1);
  return tightest;
}

std::string human(std::int64_t bytes) {
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.1f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

}  // namespace

ProcessMemory process_memory(const std::string& root) {
  const std::string status = read_small_file(root + "/proc/self/status").value_or("");
  ProcessMemory memory;
  memory.rss = kib_line(status, "VmRSS");
  memory.rss_peak = kib_line(status, "VmHWM");
  memory.rss_anon = kib_line(status, "RssAnon");
  memory.swap = kib_line(status, "VmSwap");
  memory.locked = kib_line(status, "VmLck");
  return memory;
}

MemoryBudget memory_budget(const std::string& root) {
  const std::string meminfo = read_small_file(root + "/proc/meminfo").value_or("");
  MemoryBudget budget;
  budget.total = kib_line(meminfo, "MemTotal");
  budget.available = kib_line(meminfo, "MemAvailable");
  budget.allowed = find_number(meminfo, "MemAvailable") ? budget.available : -1;
  budget.reason =
      budget.allowed < 0 ? "available memory unknown" : human(budget.available) + " available";
  if (const std::optional<Group> group = tightest_group(root)) {
    budget.cgroup_limit = group->limit;
    budget.cgroup_used = group->used;
    if (budget.allowed < 0 || group->room() < budget.allowed) {
      budget.allowed = group->room();
      budget.reason =
          fmt::format("cgroup limit of {}, {} in use", human(group->limit), human(group->used));
    }
  }
  return budget;
}

void require_memory(std::string_view what, std::int64_t bytes, const MemoryBudget& budget) {
  if (budget.allowed < 0 || bytes <= budget.allowed) return;
  throw Error(ErrorCode::out_of_memory,
              fmt::format("{}: expected room for {}, got {} ({})", what, human(bytes),
                          human(budget.allowed), budget.reason));
}

std::string huge_page_shortage(std::int64_t bytes, const std::string& root) {
  constexpr std::int64_t kPageBytes = 2 << 20;
  const std::string folder = root + "/sys/kernel/mm/hugepages/hugepages-2048kB/";
  const auto count = [&](const char* file) { return read_number(folder + file); };
  const std::int64_t needed = (bytes + kPageBytes - 1) / kPageBytes;
  const std::optional<std::int64_t> reserved = count("nr_hugepages");
  if (!reserved) {
    return fmt::format(
        "huge pages: expected {} reserved pages of 2 MiB, got a system without any; normal pages "
        "are used",
        needed);
  }
  // Free ones may be promised to other programs already.
  const std::int64_t free = count("free_hugepages").value_or(0);
  const std::int64_t promised = count("resv_hugepages").value_or(0);
  return fmt::format(
      "huge pages: expected {} free reserved pages of 2 MiB, got {} of {}; normal pages are used "
      "(sysctl vm.nr_hugepages={} as root reserves enough)",
      needed, std::max<std::int64_t>(free - promised, 0), *reserved,
      *reserved - std::max<std::int64_t>(free - promised, 0) + needed);
}

}  // namespace r1::base
