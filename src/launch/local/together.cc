#include "launch/local/together.h"

#include <csignal>

#include <poll.h>

#include "launch/local/fork.h"
#include "observe/signals.h"

namespace amdahl::launch::local {
namespace {

// Waits for a signal or for the end of a child; false when every child is over. The children are
// asked once: one that ends after the question is seen by poll(), not waited for in vain.
bool wait_for_something(std::vector<Fork>& children, int signals) {
  std::vector<pollfd> fds{{signals, POLLIN, 0}};
  bool must_look = false;
  for (Fork& child : children) {
    if (child.over()) continue;
    fds.push_back({child.poll_fd(), POLLIN, 0});
    must_look |= child.poll_fd() < 0;
  }
  if (fds.size() == 1) return false;
  ::poll(fds.data(), fds.size(), must_look ? 20 : -1);
  return true;
}

// Blocks the signals that we forward, so that none is lost before we listen.
class HeldBack {
 public:
  HeldBack() {
    sigset_t ours;
    sigemptyset(&ours);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&ours, signal);
    ::sigprocmask(SIG_BLOCK, &ours, &before_);
  }
  ~HeldBack() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldBack(const HeldBack&) = delete;
  HeldBack& operator=(const HeldBack&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Result<TaskResults> run_together(const std::vector<Task>& tasks) {
  std::vector<Fork> children;
  std::optional<HeldBack> held_back(std::in_place);
  for (const Task& task : tasks) {
    children.push_back(TRY(Fork::start(task.cpus, [&] { return task.run() ? 0 : 3; })));
  }
  observe::SignalRelay relay;
  held_back.reset();
  TaskResults results;
  while (wait_for_something(children, relay.fd())) {
    for (const int signal : relay.take()) {
      results.interrupted |= signal == SIGINT || signal == SIGTERM;
      for (const Fork& child : children) child.tell(signal);
    }
  }
  for (const Fork& child : children) results.well.push_back(child.status() == 0);
  return results;
}

}  // namespace amdahl::launch::local
