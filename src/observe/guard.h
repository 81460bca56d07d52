// guard.h: a process beside the supervisor that ends the job if the supervisor is killed outright.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "observe/proc.h"
#include "os/fd.h"

namespace amdahl::observe {

// The guard hears from its supervisor over a socket. If that ends without a farewell, it kills what
// it was told of, the groups, sessions and descendants of these, and every process that has the
// mark in its environment. It is in a session of its own, so that signals to the supervisor's group
// pass it by. Not thread-safe.
class Guard {
 public:
  // Before the job is started. Where no process can be had, is_there() is false and the job runs
  // without: only its first process then ends with the supervisor.
  Guard();
  ~Guard();  // The farewell.
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  bool is_there() const { return pid_ > 0; }
  // For the job's environment, this name with this value.
  static constexpr const char* kVariable = "AMDAHL_RUN_MARK";
  const std::string& mark() const { return mark_; }

  // All that belong to the job now. Cheap if they are the same as before.
  void keep(std::span<const ProcessIdentity> members);

 private:
  std::string mark_;
  os::Fd tell_{-1};
  pid_t pid_ = -1;
  std::vector<ProcessIdentity> last_;
};

}  // namespace amdahl::observe
