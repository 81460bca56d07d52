// cgroup.h: what the control group of a running job allowed it and withheld.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "model/receipt.h"
#include "os/cgroup.h"
#include "os/fd.h"

namespace amdahl::observe {

// Starts with the group of this process, which a child is born into. The counters are of the
// group that sets the limit and so of all that lives in it, not of the job alone.
class CgroupMeter {
 public:
  explicit CgroupMeter(std::string proc_root = "/proc");

  // From now on the group of `pid`.
  void follow(pid_t pid);
  // Looks whether it moved elsewhere (cgexec, systemd-run --scope): what a group counted before it
  // was seen there is not the job's. One short read while nothing has changed.
  void sample();
  // Reads the counters a last time; those of a group that is gone are as last seen.
  model::CgroupUse finish();

 private:
  void enter(const std::string& membership);
  void leave();
  bool is_alive() const;

  std::string proc_root_;
  std::string folder_;  // Of the process that is followed.
  os::Fd file_{-1};     // Its membership.
  std::string membership_;
  os::CgroupLimits limits_;
  os::CgroupCounters first_;
  os::CgroupCounters last_;
  model::CgroupUse use_;  // Of groups that it left.
};

}  // namespace amdahl::observe
