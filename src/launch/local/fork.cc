#include "launch/local/fork.h"

#include <cerrno>
#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fork.h"

namespace amdahl::launch::local {
namespace {

void pin_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  if (!cpus.empty()) ::sched_setaffinity(0, sizeof set, &set);
}

[[noreturn]] void be_child(pid_t parent, const std::vector<int>& cpus,
                           const std::function<int()>& body) {
  // ^C at a terminal is for our parent, who passes it on once.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // The parent died before the call above.
  pin_to(cpus);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int status = 127;
  try {
    status = body();
  } catch (const std::exception&) {  // Must not unwind into the parent's code.
  }
  ::_exit(status);
}

}  // namespace

Result<Fork> Fork::start(const std::vector<int>& cpus, const std::function<int()>& body) {
  const pid_t parent = ::getpid();
  const pid_t pid = os::fork_with_retries();
  if (pid == 0) be_child(parent, cpus, body);
  if (pid < 0) {
    return external(
        fmt::format("cannot start a process: {}", std::system_category().message(errno)));
  }
  ::setpgid(pid, pid);
  return Fork(pid, os::Fd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))});
}

Fork::Fork(Fork&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)},
      pidfd_{std::move(other.pidfd_)},
      status_{other.status_} {}

Fork::~Fork() {
  if (pid_ < 0 || over()) return;
  tell(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// By pidfd if possible: the pid may be reused once the child is reaped.
void Fork::tell(int signal) const {
  if (status_) return;
  if (pidfd_.get() >= 0) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
  } else {
    ::kill(pid_, signal);
  }
}

bool Fork::over() {
  if (status_) return true;
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  // A supervisor in this process waits for all children and may have taken the answer.
  status_ = got == pid_ && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return true;
}

}  // namespace amdahl::launch::local
