// tree.h: all processes that descend from this one, and what they use.
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

// Of the living members, zombies and the children they have waited for included.
struct TreeSample {
  Nanos cpu{};
  std::int64_t resident_bytes = 0;  // Pages shared by two members count twice.
  std::int64_t threads = 0;
  int processes = 0;  // Zombies not included.
};

// Descendants are found by their parents' numbers: this process must be a subreaper, or the
// children of the dead escape. Not thread-safe.
class Tree {
 public:
  // The children that `root` has now are not members and never will be.
  explicit Tree(pid_t root, std::string proc_root = "/proc");

  // Cheap when nothing was started on the host since the last time: one short read per member.
  TreeSample sample();

  // The members at the latest sample; before the first one, those that were adopted.
  std::span<const ProcessIdentity> seen() const { return seen_; }

  // The members alive now, from a complete look at /proc.
  std::vector<ProcessStat> living();

  // A child that was just started is a member before anyone looks: it may end before that.
  void adopt(pid_t pid);
  // A child that is dead and not yet waited for: what it waited last is to be had only now. Those
  // that were never seen alive are passed over; in a storm of forks looking costs too much.
  void note_dead(pid_t pid);

  // How long all threads so far, the ended ones as far as they were seen, waited for a CPU.
  Nanos run_delay() const;

 private:
  struct Member {
    os::Fd stat_file;  // -1 when there are too many to keep open.
    Tasks tasks;
  };
  using Members = std::map<pid_t, Member>;

  bool something_started();
  void find_new();
  bool read_stat(pid_t pid, int fd, ProcessStat& stat) const;
  // The members' lines; those that are gone are dropped.
  std::vector<ProcessStat> read_members();
  Member& add(pid_t pid);
  Members::iterator forget(Members::iterator member);
  std::vector<pid_t> numbers() const;

  pid_t root_;
  std::string proc_root_;
  os::Fd loadavg_;
  std::set<pid_t> not_ours_;  // Seen at the last look and no descendants.
  std::set<pid_t> excluded_;  // Children from before our time.
  Members members_;
  int task_files_left_;
  Nanos gone_run_delay_{};  // Of members that are no more.
  std::string last_started_;
  std::vector<ProcessIdentity> seen_;
};

}  // namespace amdahl::observe
