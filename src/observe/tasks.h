// tasks.h: how long the threads of a process were runnable and waited for a CPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "os/fd.h"

namespace amdahl::observe {

// The second number of a schedstat line: "406325071 19440265 54". 0 if malformed.
Nanos parse_run_delay(std::string_view schedstat);

// The threads of one process. When a thread ends, its last seen delay stays in the sum. Lost are
// the delay since it was last seen (at most one interval) and threads that start and end between
// two samples. A throttled thread counts as waiting.
class Tasks {
 public:
  // `folder` is the process's folder in /proc.
  explicit Tasks(std::string folder) : folder_{std::move(folder)} {}

  // One short read per thread. `count` is the current number of threads: new ones are searched
  // only if it changed; 0 samples known threads only. Keeps files open while `files_left` is above
  // 0 and updates it.
  void look(std::int64_t count, int& files_left);
  Nanos run_delay() const { return ended_ + living_; }
  int open_files() const;

 private:
  struct Task {
    os::Fd file{-1};  // -1 if too many are open.
    Nanos waited{};
  };

  void add_new(int& files_left);
  std::string file_of(pid_t number) const;
  // False if the thread ended.
  bool read(pid_t number, Task& task) const;

  std::string folder_;
  std::map<pid_t, Task> tasks_;
  Nanos ended_{};
  Nanos living_{};
};

}  // namespace amdahl::observe
