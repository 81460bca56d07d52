// tasks.h: how long the threads of a process were ready to run and waited for a CPU.
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

// The second number of a schedstat line: "406325071 19440265 54". 0 if it is not one.
Nanos parse_run_delay(std::string_view schedstat);

// The threads of one process. What a thread had waited when it was last seen stays in the sum when
// it ends. Lost is what it waited after that, at most one interval a thread, and all that a
// thread waited which came and went between two looks. A throttled thread counts as waiting.
class Tasks {
 public:
  // `folder` is the process's own in /proc.
  explicit Tasks(std::string folder) : folder_{std::move(folder)} {}

  // One short read a thread; `count`, how many there are now, tells whether some are new: 0 looks
  // only at those that are known. Keeps files open while `files_left`, which is kept up to date,
  // is above 0.
  void look(std::int64_t count, int& files_left);
  Nanos run_delay() const { return ended_ + living_; }
  int open_files() const;

 private:
  struct Task {
    os::Fd file{-1};  // -1 when there are too many to keep open.
    Nanos waited{};
  };

  void add_new(int& files_left);
  std::string file_of(pid_t number) const;
  // False if the thread is gone.
  bool read(pid_t number, Task& task) const;

  std::string folder_;
  std::map<pid_t, Task> tasks_;
  Nanos ended_{};
  Nanos living_{};
};

}  // namespace amdahl::observe
