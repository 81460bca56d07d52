// guard.h: a process that kills the job if the supervisor itself is killed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "observe/proc.h"
#include "os/fd.h"

namespace amdahl::observe {

// The guard is connected to its supervisor by a socket. If the socket closes without a goodbye, it
// kills the processes it was told of, their groups, sessions and descendants, and every process
// with the mark in its environment. It runs in its own session, so that signals to the
// supervisor's group do not reach it. Not thread-safe.
class Guard {
 public:
  // Create before the job starts. If fork fails, is_there() is false and the job runs without a
  // guard: then only its first process dies with the supervisor.
  Guard();
  ~Guard();  // Says goodbye.
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  bool is_there() const { return pid_ > 0; }
  // Variable for the job's environment.
  static constexpr const char* kVariable = "AMDAHL_RUN_MARK";
  const std::string& mark() const { return mark_; }

  // Tells the guard all current processes of the job. Cheap if unchanged.
  void keep(std::span<const ProcessIdentity> members);

 private:
  std::string mark_;
  os::Fd tell_{-1};
  pid_t pid_ = -1;
  std::vector<ProcessIdentity> last_;
};

}  // namespace amdahl::observe
