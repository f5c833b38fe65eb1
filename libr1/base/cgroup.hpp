// Where this process sits in the control groups: the directories whose limits apply to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace r1::base {

/// Directories of the cgroup v2 hierarchy whose limits apply, from this process's own up to the
/// mount point. `root` is put before /proc and /sys. Empty when there is no such hierarchy.
std::vector<std::string> cgroup_v2_directories(const std::string& root);

/// The same for a v1 controller ("cpu", "memory").
std::vector<std::string> cgroup_v1_directories(const std::string& root,
                                               std::string_view controller);

/// A small text file; nothing when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);

/// First number of a file such as cpu.cfs_quota_us; nothing for "max", an unreadable or another
/// file.
std::optional<std::int64_t> read_number(const std::string& path);

/// Value of a line "`key` value" or "`key`: value", as in memory.stat and /proc/meminfo.
std::optional<std::int64_t> find_number(std::string_view text, std::string_view key);

}  // namespace r1::base
