// testing.h: a real cgroup with a CPU quota, for tests on machines that allow it.
#pragma once

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/cgroup.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::os {

// Created below this process's own group or an ancestor. If none could be created, `why_not` says
// why. Processes in it must end before this object is destroyed.
class QuotaGroup {
 public:
  explicit QuotaGroup(double cores) {
    const auto membership = read_file("/proc/self/cgroup");
    const auto mounts = read_file("/proc/self/mountinfo");
    if (!membership || !mounts) return;
    for (const std::string& parent : cgroup_folders("cpu", *membership, *mounts)) {
      const std::string made = fmt::format("{}/amdahl_test_{}", parent, random_hex(8));
      if (::mkdir(made.c_str(), 0755) != 0) {
        why_not_ = fmt::format("cannot make {}: {}", made, std::strerror(errno));
        continue;
      }
      folder_ = made;
      const int quota = static_cast<int>(cores * 100'000);
      const bool limited = write(made + "/cpu.max", fmt::format("{} 100000", quota)) ||
                           write(made + "/cpu.cfs_quota_us", fmt::format("{}", quota));
      if (limited) return;
      why_not_ = fmt::format("{}: a quota cannot be set", made);
      ::rmdir(made.c_str());
      folder_.clear();
    }
  }
  ~QuotaGroup() {
    if (!folder_.empty()) ::rmdir(folder_.c_str());
  }
  QuotaGroup(const QuotaGroup&) = delete;
  QuotaGroup& operator=(const QuotaGroup&) = delete;

  const std::string& folder() const { return folder_; }
  const std::string& why_not() const { return why_not_; }
  // A process joins the group by writing its pid, or 0, to this file.
  std::string door() const { return folder_ + "/cgroup.procs"; }

 private:
  // Not write_file(): kernel files cannot be renamed.
  static bool write(const std::string& path, const std::string& text) {
    if (!exists(path)) return false;
    std::ofstream file(path);
    file << text << std::flush;
    return file.good();
  }

  std::string folder_;
  std::string why_not_ = "no control group for CPU time is mounted";
};

}  // namespace amdahl::os
