// ending.h: reaps a process tree and makes sure that none of it survives.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/resource.h>
#include <sys/types.h>

#include "base/units.h"
#include "observe/tree.h"
#include "os/clock.h"

namespace amdahl::observe {

inline Nanos from_timeval(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// What the kernel counted of a process and of all its children that it has waited for.
struct FileCalls {
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

// The lines of /proc/PID/io; what is not there is 0.
FileCalls parse_file_calls(std::string_view text);

// Waits for every child of this process, adopted orphans included, and sums their resource usage.
class Reaper {
 public:
  // `tree` is told of each dead process before it is reaped, while its /proc entry exists.
  Reaper(pid_t main, Tree& tree) : main_{main}, tree_{tree} {}
  // Reaps dead children, at most `at_most`: in a fork storm they die faster than we can reap, and
  // limits must still hold. Returns the main process's wait status once it is among them.
  std::optional<int> collect(int at_most = 4096);

  pid_t main() const { return main_; }
  std::optional<int> main_status() const { return main_status_; }
  const rusage& used() const { return used_; }  // ru_maxrss is the largest, in KiB.
  Nanos cpu() const;
  const FileCalls& calls() const { return calls_; }

 private:
  pid_t main_;
  Tree& tree_;
  std::optional<int> main_status_;
  rusage used_{};
  FileCalls calls_;
  int calls_read_ = 0;  // Of so many processes.
};

// Kills the tree: stops what it sees so that it cannot fork, kills it, and repeats until none is
// left. Kills whole groups at once. Gives up after ten seconds; returns how many are left.
int kill_tree(Tree& tree, Reaper& reaper, os::Clock& clock);

}  // namespace amdahl::observe
