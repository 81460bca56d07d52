// fork.h: a child of ours that does not outlive us.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "os/fd.h"

namespace amdahl::launch::local {

// A copy of this process that runs one function. Only for a process of one thread.
class Fork {
 public:
  // `body` runs in the child, in a process group of its own, pinned to `cpus` where that can be,
  // and with no signal blocked; it returns the exit status. SIGKILL comes when we die.
  static Result<Fork> start(const std::vector<int>& cpus, const std::function<int()>& body);
  // Kills it, should it still run, and waits for its end.
  ~Fork();
  Fork(Fork&& other) noexcept;
  Fork& operator=(Fork&&) = delete;

  void tell(int signal) const;
  int poll_fd() const { return pidfd_.get(); }  // Readable when it is over; -1 on an old kernel.
  // Whether it is over. If so, status() is how it exited: -1 for a signal or when it is not known.
  bool over();
  int status() const { return status_.value_or(-1); }

 private:
  Fork(pid_t pid, os::Fd pidfd) : pid_{pid}, pidfd_{std::move(pidfd)} {}

  pid_t pid_;
  os::Fd pidfd_;
  std::optional<int> status_;
};

}  // namespace amdahl::launch::local
