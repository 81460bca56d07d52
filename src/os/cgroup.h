// cgroup.h: the limits that cgroups set for a process, and how often it hit them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::os {

// The folders of the cgroups that a process is in for `controller` ("cpu", "memory"): its own
// first, then each ancestor that is mounted. `membership` is the text of /proc/PID/cgroup,
// `mounts` that of /proc/PID/mountinfo. On a hybrid machine v1 is used if it has the controller,
// else v2. Empty if the cgroup is not visible from here.
std::vector<std::string> cgroup_folders(std::string_view controller, std::string_view membership,
                                        std::string_view mounts);

// The tightest limits that apply to a process. Limits of all ancestor groups apply too.
struct CgroupLimits {
  double quota_cores = 0;         // CPU seconds per second; 0: no limit, or none visible.
  std::string quota_folder;       // Group that sets the limit.
  std::int64_t memory_bytes = 0;  // 0: no limit.
  std::string memory_folder;
};
CgroupLimits cgroup_limits(std::string_view membership, std::string_view mounts);
CgroupLimits own_cgroup_limits();

// Mounted versions: "v1", "v2" or "v1 and v2"; empty if none.
std::string cgroup_versions(std::string_view mounts);

// Counters of the groups that set the limits, for all their processes since the groups were
// created. 0 where there is no limit.
struct CgroupCounters {
  Nanos throttled{};  // Summed over CPUs: two CPUs throttled for one second count as two.
  std::int64_t throttled_periods = 0;
  std::int64_t memory_stalls = 0;  // Times memory had to be reclaimed, or could not be allocated.
};
// Nothing if a group that sets a limit no longer exists.
std::optional<CgroupCounters> cgroup_counters(const CgroupLimits& limits);

}  // namespace amdahl::os
