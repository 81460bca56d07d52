#include "os/cgroup.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/text.h"
#include "os/files.h"

namespace amdahl::os {
namespace {

// Version 1 writes "no limit" as the largest number of whole pages, for any page size.
constexpr std::int64_t kNoMemoryLimit = std::int64_t{1} << 60;

struct Mount {
  int version = 0;
  std::string root;                           // The group that is seen at `point`.
  std::string point;                          // Without a slash at its end.
  std::vector<std::string_view> controllers;  // Of version 1.
};

bool has(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// The kernel writes blanks and backslashes in paths as three octal digits: "\040".
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 3);
    const bool is_octal = digits.size() == 3 &&
                          std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '7'; });
    if (text[i] != '\\' || !is_octal) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    i += 3;
  }
  return plain;
}

// "33 31 0:30 /docker/ab /sys/fs/cgroup/cpu rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct".
std::optional<Mount> parse_mount(std::string_view line) {
  const std::size_t dash = line.find(" - ");
  if (dash == line.npos) return std::nullopt;
  const auto front = split(line.substr(0, dash), ' ');
  const auto back = split(line.substr(dash + 3), ' ');
  if (front.size() < 6 || back.size() < 3) return std::nullopt;
  Mount mount;
  mount.version = back[0] == "cgroup2" ? 2 : back[0] == "cgroup" ? 1 : 0;
  if (mount.version == 0) return std::nullopt;
  mount.root = unescape(front[3]);
  mount.point = unescape(front[4]);
  if (mount.version == 1) mount.controllers = split(back[2], ',');
  return mount;
}

std::vector<Mount> parse_mounts(std::string_view mounts) {
  std::vector<Mount> found;
  for (const std::string_view line : split(mounts, '\n')) {
    if (auto mount = parse_mount(line)) found.push_back(*std::move(mount));
  }
  return found;
}

struct Membership {
  int version = 0;
  std::string path;
};

// "4:cpu,cpuacct:/user.slice" is of version 1, "0::/user.slice" of version 2.
std::optional<Membership> membership_of(std::string_view controller, std::string_view text) {
  std::optional<Membership> unified;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    constexpr std::string_view kGone = " (deleted)";
    if (path.ends_with(kGone)) path.resize(path.size() - kGone.size());
    if (!path.starts_with('/')) continue;
    if (has(split(names, ','), controller)) return Membership{1, path};
    if (names.empty()) unified = Membership{2, path};
  }
  return unified;
}

// `path` below `root`, "" for the root itself; nothing if it is elsewhere.
std::optional<std::string> below(const std::string& root, const std::string& path) {
  if (path.starts_with("/..")) return std::nullopt;  // Outside the namespace that we live in.
  if (root == "/") return path == "/" ? "" : path;
  if (path == root) return "";
  if (path.starts_with(root + "/")) return path.substr(root.size());
  return std::nullopt;
}

std::string read_trimmed(const std::string& path) {
  const auto text = read_file(path);
  return text ? std::string(trim(*text)) : "";
}

// "150000 100000" or "max 100000"; version 1 has the same numbers in two files, -1 for none.
double quota_in(const std::string& folder) {
  std::string text = read_trimmed(folder + "/cpu.max");
  if (text.empty()) {
    text = read_trimmed(folder + "/cpu.cfs_quota_us") + " " +
           read_trimmed(folder + "/cpu.cfs_period_us");
  }
  const auto words = split(text, ' ');
  const auto quota = to_number<double>(words.front());
  const auto period = to_number<double>(words.back());
  return quota && period && *quota > 0 && *period > 0 ? *quota / *period : 0;
}

std::int64_t memory_limit_in(const std::string& folder) {
  std::string text = read_trimmed(folder + "/memory.max");
  if (text.empty()) text = read_trimmed(folder + "/memory.limit_in_bytes");
  const std::int64_t limit = to_number<std::int64_t>(text).value_or(0);
  return limit < kNoMemoryLimit ? limit : 0;
}

// The number after `key` in lines of "key number".
std::optional<std::int64_t> value_of(std::string_view key, std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank != line.npos && line.substr(0, blank) == key) {
      return to_number<std::int64_t>(trim(line.substr(blank + 1)));
    }
  }
  return std::nullopt;
}

bool add_throttling(const std::string& folder, CgroupCounters& counters) {
  const auto text = read_file(folder + "/cpu.stat");
  if (!text) return false;
  counters.throttled_periods = value_of("nr_throttled", *text).value_or(0);
  const auto nanos = value_of("throttled_time", *text);  // Version 1.
  counters.throttled =
      nanos ? Nanos(*nanos)
            : std::chrono::microseconds(value_of("throttled_usec", *text).value_or(0));
  return true;
}

bool add_memory(const std::string& folder, CgroupCounters& counters) {
  if (const auto events = read_file(folder + "/memory.events")) {
    counters.memory_stalls = value_of("max", *events).value_or(0);
    return true;
  }
  const auto failures = read_file(folder + "/memory.failcnt");
  if (!failures) return false;
  counters.memory_stalls = to_number<std::int64_t>(trim(*failures)).value_or(0);
  return true;
}

}  // namespace

std::vector<std::string> cgroup_folders(std::string_view controller, std::string_view membership,
                                        std::string_view mounts) {
  const auto member = membership_of(controller, membership);
  if (!member) return {};
  for (const Mount& mount : parse_mounts(mounts)) {
    if (mount.version != member->version) continue;
    if (mount.version == 1 && !has(mount.controllers, controller)) continue;
    auto path = below(mount.root, member->path);
    if (!path) continue;
    std::vector<std::string> folders;
    while (!path->empty()) {
      folders.push_back(mount.point + *path);
      path->resize(path->rfind('/'));
    }
    folders.push_back(mount.point);
    return folders;
  }
  return {};
}

CgroupLimits cgroup_limits(std::string_view membership, std::string_view mounts) {
  CgroupLimits limits;
  for (const std::string& folder : cgroup_folders("cpu", membership, mounts)) {
    const double cores = quota_in(folder);
    if (cores <= 0 || (limits.quota_cores > 0 && cores >= limits.quota_cores)) continue;
    limits.quota_cores = cores;
    limits.quota_folder = folder;
  }
  for (const std::string& folder : cgroup_folders("memory", membership, mounts)) {
    const std::int64_t bytes = memory_limit_in(folder);
    if (bytes <= 0 || (limits.memory_bytes > 0 && bytes >= limits.memory_bytes)) continue;
    limits.memory_bytes = bytes;
    limits.memory_folder = folder;
  }
  return limits;
}

CgroupLimits own_cgroup_limits() {
  const auto membership = read_file("/proc/self/cgroup");
  const auto mounts = read_file("/proc/self/mountinfo");
  return membership && mounts ? cgroup_limits(*membership, *mounts) : CgroupLimits{};
}

std::string cgroup_versions(std::string_view mounts) {
  const auto found = parse_mounts(mounts);
  const bool one = std::ranges::any_of(found, [](const Mount& mount) {
    return mount.version == 1 &&
           (has(mount.controllers, "cpu") || has(mount.controllers, "memory"));
  });
  const bool two = std::ranges::find(found, 2, &Mount::version) != found.end();
  if (one && two) return "v1 and v2";
  return one ? "v1" : two ? "v2" : "";
}

std::optional<CgroupCounters> cgroup_counters(const CgroupLimits& limits) {
  CgroupCounters counters;
  if (!limits.quota_folder.empty() && !add_throttling(limits.quota_folder, counters)) {
    return std::nullopt;
  }
  if (!limits.memory_folder.empty() && !add_memory(limits.memory_folder, counters)) {
    return std::nullopt;
  }
  return counters;
}

}  // namespace amdahl::os
