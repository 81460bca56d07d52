// cgroup.h: what the control groups around a process allow it, and how often they held it back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::os {

// The folders of the groups that a process is in for `controller` ("cpu", "memory"): its own
// first, then each around it, as far up as they are mounted. `membership` is the text of
// /proc/PID/cgroup, `mounts` of /proc/PID/mountinfo. Version 1 is taken where it has the
// controller (a hybrid machine), else version 2. Empty if the group is not to be seen from here.
std::vector<std::string> cgroup_folders(std::string_view controller, std::string_view membership,
                                        std::string_view mounts);

// The tightest of the limits that hold for a process: a group is bound by all groups around it.
struct CgroupLimits {
  double quota_cores = 0;         // CPU time a second; 0: no limit, or none that we can see.
  std::string quota_folder;       // The group that sets it.
  std::int64_t memory_bytes = 0;  // 0: no limit.
  std::string memory_folder;
};
CgroupLimits cgroup_limits(std::string_view membership, std::string_view mounts);
CgroupLimits own_cgroup_limits();

// "v1", "v2" or "v1 and v2": what is mounted here; empty if nothing is.
std::string cgroup_versions(std::string_view mounts);

// Since the groups were made, of all that lives in them; of the groups that set the limits, so 0
// where there is no limit.
struct CgroupCounters {
  Nanos throttled{};  // Summed over CPUs: two CPUs held back for a second are two seconds.
  std::int64_t throttled_periods = 0;
  std::int64_t memory_stalls = 0;  // Times memory had to be freed first, or could not be had.
};
// Nothing if a group that sets a limit is gone.
std::optional<CgroupCounters> cgroup_counters(const CgroupLimits& limits);

}  // namespace amdahl::os
