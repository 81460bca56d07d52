// live.h: which of Slurm's programs to run to learn what a cluster did; runs none of them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::fleet::slurm {

// One program. Its output, from the first byte to the last, goes to a reader of the source "slurm"
// (slurm::make) of its own, with the time zone "UTC": times are asked for as Unix time.
struct Command {
  std::string_view name;  // For messages: "sacct".
  std::string_view says;  // What is missing where it fails: "jobs".
  bool required = false;  // Without it there is nothing to scan; the others may fail.
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // On top of ours.
};

struct Ask {
  Nanos from{};           // Unix time; jobs that ran in [from, to).
  Nanos to{};             // 0: now.
  std::string cluster{};  // --clusters; empty: this one.
};

// In the order to run them: sacct (jobs), sinfo (accelerators of each node), sacctmgr (when nodes
// were down), scontrol (device indices of running jobs).
std::vector<Command> commands(const Ask& ask);

// What sacct is asked for, as after -o: also for people who save its output.
std::string_view sacct_fields();

}  // namespace amdahl::fleet::slurm
