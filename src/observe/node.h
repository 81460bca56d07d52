// node.h: watches the processes of a job on one of its nodes, from beside: they are not our
// children.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "model/receipt.h"
#include "observe/nvml.h"
#include "observe/proc.h"
#include "observe/timeline.h"

namespace amdahl::observe {

// Variable that marks the processes of one arm on all nodes.
inline constexpr const char* kRankMark = "AMDAHL_RANKS";

// The rank that an environment (as in /proc/PID/environ) tells of, and how sure that is: torchrun's
// RANK before those of MPI, and these before Slurm's number of the task.
struct RankName {
  int sure = 0;  // 0: none.
  int rank = -1;
  auto operator<=>(const RankName&) const = default;
};
RankName rank_in(std::string_view environment);

// Whether the process belongs to the arm on this node: several nodes may share a host.
bool is_marked(std::string_view environment, std::string_view mark, std::string_view node);

// Not thread-safe.
class NodeWatch {
 public:
  struct Order {
    std::string node;  // As in SLURMD_NODENAME.
    std::string mark;
    int accelerators = 0;  // Of the arm, on this node.
  };
  explicit NodeWatch(Order order);

  void tick(Nanos now);  // Monotonic time of this node; about every 100 ms.

  // What a receipt has of this node alone. The job began at `began` and took `wall`.
  model::Receipt finish(Nanos began, Nanos wall) const;

  // Kills the job's processes here that are still alive; returns how many there were.
  int end_all();

 private:
  struct Use {
    Nanos cpu{};
    Timeline busy;
  };

  void find_members(Nanos now);
  void add(Nanos from, Nanos to, Nanos used);

  Order order_;
  Nvml nvml_;
  std::vector<int> gpus_;
  std::map<pid_t, std::pair<RankName, ProcessStat>> members_;
  std::set<pid_t> others_;
  Nanos forget_others_{};
  std::map<RankName, Use> uses_;  // Of ranks; without a rank: the rest.
  std::vector<Timeline> accelerators_;
  NoiseMeter meter_;
  model::HostNoise noise_;  // Until the last process was seen.
  std::int64_t peak_resident_ = 0;
  Nanos cpu_{};
  Nanos own_cpu_{};
  Nanos first_{};
  Nanos last_{};
};

}  // namespace amdahl::observe
