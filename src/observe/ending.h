// ending.h: collects the dead of a process tree and makes sure that none of it lives on.
#pragma once

#include <cstdint>
#include <optional>

#include <sys/resource.h>
#include <sys/types.h>

#include "base/units.h"
#include "observe/tree.h"
#include "os/clock.h"

namespace amdahl::observe {

inline Nanos from_timeval(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// Waits for every child of this process, adopted orphans included, and adds up what they used.
class Reaper {
 public:
  // The tree is shown each of the dead while there is still something to be seen of it.
  Reaper(pid_t main, Tree& tree) : main_{main}, tree_{tree} {}
  // Collects those that are dead now, not more than `at_most`: in a storm of forks the dead come
  // faster than we can count them, and limits must hold all the same. The main one's wait status
  // once it is among them.
  std::optional<int> collect(int at_most = 4096);

  pid_t main() const { return main_; }
  std::optional<int> main_status() const { return main_status_; }
  const rusage& used() const { return used_; }  // ru_maxrss is the largest, in KiB.
  Nanos cpu() const;

 private:
  pid_t main_;
  Tree& tree_;
  std::optional<int> main_status_;
  rusage used_{};
};

// Kills the tree: stops what it sees so that it cannot fork, kills it, looks again, until none is
// left. Whole groups go at once. Gives up after ten seconds; returns how many are still there.
int kill_tree(Tree& tree, Reaper& reaper, os::Clock& clock);

}  // namespace amdahl::observe
