// cgroup.h: limits and throttling of a running job's cgroup.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "model/receipt.h"
#include "os/cgroup.h"
#include "os/fd.h"

namespace amdahl::observe {

// Starts with this process's own group, which children inherit. The counters belong to the group
// that sets the limit, so they include every process in it, not just the job.
class CgroupMeter {
 public:
  explicit CgroupMeter(std::string proc_root = "/proc");

  // Follows the group of `pid` from now on.
  void follow(pid_t pid);
  // Checks whether the process moved to another group (cgexec, systemd-run --scope). What that
  // group counted before does not belong to the job. One short read if nothing changed.
  void sample();
  // Reads the counters a last time; a group that no longer exists keeps its last values.
  model::CgroupUse finish();

 private:
  void enter(const std::string& membership);
  void leave();
  bool is_alive() const;

  std::string proc_root_;
  std::string folder_;  // Group of the followed process.
  os::Fd file_{-1};     // Its /proc/PID/cgroup.
  std::string membership_;
  os::CgroupLimits limits_;
  os::CgroupCounters first_;
  os::CgroupCounters last_;
  model::CgroupUse use_;  // From groups that it left.
};

}  // namespace amdahl::observe
