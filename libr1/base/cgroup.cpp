// /proc/self/cgroup says which group, /proc/self/mountinfo where it is mounted. Only reads; every
// odd answer means "no limit known" and never an error. Formats: proc(5), cgroups(7), the kernel's
// cgroup-v2.rst.
#include "libr1/base/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace r1::base {
namespace {

struct Mount {
  std::string group;  // the group that is visible at `point`
  std::string point;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool has_item(std::string_view comma_list, std::string_view item) {
  const std::vector<std::string> items = split(comma_list, ',');
  return std::find(items.begin(), items.end(), item) != items.end();
}

// mountinfo writes blanks, tabs, newlines and backslashes as \ooo.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// `controller` is empty for v2.
std::optional<Mount> find_mount(const std::string& root, std::string_view controller) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // 36 35 98:0 /group /mount/point options [optional fields] - type source super-options
    const std::vector<std::string> fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 6 || fields.end() - dash < 4) continue;
    const bool matches = controller.empty() ? dash[1] == "cgroup2"
                                            : dash[1] == "cgroup" && has_item(dash[3], controller);
    if (matches) return Mount{unescape(fields[3]), unescape(fields[4])};
  }
  return std::nullopt;
}

std::optional<std::string> find_group(const std::string& root, std::string_view controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // hierarchy:controllers:path; the path itself may hold colons
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const bool matches = controller.empty()
                             ? line.compare(0, first, "0") == 0 && controllers.empty()
                             : has_item(controllers, controller);
    if (matches) return line.substr(second + 1);
  }
  return std::nullopt;
}

bool is_directory_prefix(const std::string& prefix, const std::string& path) {
  return path.compare(0, prefix.size(), prefix) == 0 &&
         (path.size() == prefix.size() || path[prefix.size()] == '/');
}

std::vector<std::string> directories(const std::string& root, const std::string& group,
                                     Mount mount) {
  if (mount.group == "/") mount.group.clear();
  // A container without a cgroup namespace shows the host's path but mounts its own group: when the
  // two do not fit together, the mount point is the best that can be seen.
  std::string below;
  if (is_directory_prefix(mount.group, group) && group.find("/..") == std::string::npos) {
    below = group.substr(mount.group.size());
  }
  while (!below.empty() && below.back() == '/') below.pop_back();
  std::vector<std::string> result;
  for (;;) {
    result.push_back(root + mount.point + below);
    if (below.empty()) return result;
    below.resize(below.rfind('/') == std::string::npos ? 0 : below.rfind('/'));
  }
}

std::vector<std::string> directories_of(const std::string& root, std::string_view controller,
                                        std::string_view usual_mount_point) {
  const std::optional<std::string> group = find_group(root, controller);
  if (!group) return {};
  const std::optional<Mount> mount = find_mount(root, controller);
  return directories(root, *group, mount.value_or(Mount{"/", std::string(usual_mount_point)}));
}

}  // namespace

std::vector<std::string> cgroup_v2_directories(const std::string& root) {
  return directories_of(root, "", "/sys/fs/cgroup");
}

std::vector<std::string> cgroup_v1_directories(const std::string& root,
                                               std::string_view controller) {
  return directories_of(root, controller, "/sys/fs/cgroup/" + std::string(controller));
}

std::optional<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return text;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const std::optional<std::string> text = read_small_file(path);
  std::int64_t value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{}) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> find_number(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.substr(0, key.size()) != key) continue;
    line.remove_prefix(key.size());
    if (!line.empty() && line.front() == ':') line.remove_prefix(1);
    const std::size_t digits = line.find_first_not_of(" \t");
    if (digits == 0 || digits == std::string_view::npos) continue;
    std::int64_t value = 0;
    if (std::from_chars(line.data() + digits, line.data() + line.size(), value).ec == std::errc{}) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace r1::base
