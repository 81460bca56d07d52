// tree.h: all processes that descend from this one, and what they use.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "observe/proc.h"
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

  // The members alive now, from a complete look at /proc.
  std::vector<ProcessStat> living();

 private:
  struct Member {
    os::Fd stat_file;  // -1 when there are too many to keep open.
  };

  bool something_started();
  void find_new();
  bool read_stat(pid_t pid, int fd, ProcessStat& stat) const;
  // The members' lines; those that are gone are dropped.
  std::vector<ProcessStat> read_members();
  std::vector<pid_t> numbers() const;

  pid_t root_;
  std::string proc_root_;
  os::Fd loadavg_;
  std::set<pid_t> not_ours_;  // Seen at the last look and no descendants.
  std::set<pid_t> excluded_;  // Children from before our time.
  std::map<pid_t, Member> members_;
  std::string last_started_;
};

}  // namespace amdahl::observe
