// live.h: the Slurm commands that describe a cluster; runs none of them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::fleet::slurm {

// One command. Its whole output goes to a separate reader of the source "slurm" (slurm::make) with
// time zone "UTC": times are requested as Unix time.
struct Command {
  std::string_view name;  // For messages: "sacct".
  std::string_view says;  // What is missing if it fails: "jobs".
  bool required = false;  // There is nothing to scan without it; others may fail.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // Added to ours.
};

struct Ask {
  Nanos from{};           // Unix time; jobs that ran in [from, to).
  Nanos to{};             // 0: now.
  std::string cluster{};  // --clusters; empty: the local one.
};

// In the order to run them: sacct (jobs), sinfo (accelerators per node), sacctmgr (when nodes were
// down), scontrol (device indices of running jobs).
std::vector<Command> commands(const Ask& ask);

// The -o list for sacct; also shown to people who save its output.
std::string_view sacct_fields();

}  // namespace amdahl::fleet::slurm
