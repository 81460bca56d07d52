// fork.h: a child process that dies with its parent.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"

namespace amdahl::launch::local {

// A fork of this process that runs one function. Only for single-threaded processes.
class Fork {
 public:
  // `body` runs in the child, in its own process group, pinned to `cpus` if possible, with no
  // signal blocked; it returns the exit status. The child gets SIGKILL when we die.
  static Result<Fork> start(const std::vector<int>& cpus, const std::function<int()>& body);
  // Kills it if it still runs, and waits for its end.
  ~Fork();
  Fork(Fork&& other) noexcept;
  Fork& operator=(Fork&&) = delete;

  void tell(int signal) const;
  int poll_fd() const { return pidfd_.get(); }  // Readable when it has ended; -1 on old kernels.
  // Whether it has ended. Then status() is its exit status: -1 for a signal or if unknown.
  bool over();
  int status() const { return status_.value_or(-1); }

 private:
  Fork(pid_t pid, os::Fd pidfd) : pid_{pid}, pidfd_{std::move(pidfd)} {}

  pid_t pid_;
  os::Fd pidfd_;
  std::optional<int> status_;
};

}  // namespace amdahl::launch::local
