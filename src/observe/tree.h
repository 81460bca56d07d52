// tree.h: all descendants of this process, and their resource usage.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "observe/proc.h"
#include "observe/tasks.h"
#include "os/fd.h"

namespace amdahl::observe {

// Totals of living members, including zombies and children they have waited for.
struct TreeSample {
  Nanos cpu{};
  std::int64_t resident_bytes = 0;  // Pages shared by members count once for each.
  std::int64_t threads = 0;
  int processes = 0;  // Without zombies.
};

// Finds descendants by parent pid. This process must be a subreaper, or orphans escape. Not
// thread-safe.
class Tree {
 public:
  // Children that `root` has now are excluded for good.
  explicit Tree(pid_t root, std::string proc_root = "/proc");

  // Cheap if nothing was started on the host since the last call: one short read per member.
  TreeSample sample();

  // Members at the latest sample; before the first one, those adopted.
  std::span<const ProcessIdentity> seen() const { return seen_; }

  // Members alive now, from a full scan of /proc.
  std::vector<ProcessStat> living();

  // Makes a newly started child a member before the next sample: it may end before that.
  void adopt(pid_t pid);
  // Call for a dead child before it is reaped: its last run delay is readable only now. Processes
  // never seen alive are skipped, which keeps fork storms cheap.
  void note_dead(pid_t pid);

  // Total run delay of all threads so far, including ended ones as far as they were seen.
  Nanos run_delay() const;

 private:
  struct Member {
    os::Fd stat_file;  // -1 if too many are open.
    Tasks tasks;
  };
  using Members = std::map<pid_t, Member>;

  bool something_started();
  void find_new();
  bool read_stat(pid_t pid, int fd, ProcessStat& stat) const;
  // Stat lines of the members; ended ones are dropped.
  std::vector<ProcessStat> read_members();
  Member& add(pid_t pid);
  Members::iterator forget(Members::iterator member);
  std::vector<pid_t> numbers() const;

  pid_t root_;
  std::string proc_root_;
  os::Fd loadavg_;
  std::set<pid_t> not_ours_;  // Seen at the last scan; not descendants.
  std::set<pid_t> excluded_;  // Children that existed before us.
  Members members_;
  int task_files_left_;
  Nanos gone_run_delay_{};  // Of ended members.
  std::string last_started_;
  std::vector<ProcessIdentity> seen_;
};

}  // namespace amdahl::observe
