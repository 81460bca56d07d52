#include "observe/ending.h"

#include <algorithm>
#include <csignal>
#include <set>

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace amdahl::observe {
namespace {

Nanos from_timeval(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

void add(timeval& sum, const timeval& more) { timeradd(&sum, &more, &sum); }

// Groups led by one of ours hold none but ours, and the kernel kills a group without a gap through
// which a fork could slip. The main process's group may outlive it.
std::set<pid_t> groups_of(const std::vector<ProcessStat>& living, pid_t main) {
  std::set<pid_t> numbers{main};
  std::set<pid_t> groups;
  for (const ProcessStat& stat : living) numbers.insert(stat.pid);
  for (const ProcessStat& stat : living) {
    if (numbers.contains(stat.group)) groups.insert(stat.group);
  }
  return groups;
}

}  // namespace

std::optional<int> Reaper::collect() {
  int status = 0;
  rusage used{};
  pid_t pid = 0;
  while ((pid = ::wait4(-1, &status, WNOHANG, &used)) > 0) {
    if (pid == main_) main_status_ = status;
    add(used_.ru_utime, used.ru_utime);
    add(used_.ru_stime, used.ru_stime);
    used_.ru_maxrss = std::max(used_.ru_maxrss, used.ru_maxrss);
    used_.ru_minflt += used.ru_minflt;
    used_.ru_majflt += used.ru_majflt;
    used_.ru_inblock += used.ru_inblock;
    used_.ru_oublock += used.ru_oublock;
    used_.ru_nvcsw += used.ru_nvcsw;
    used_.ru_nivcsw += used.ru_nivcsw;
  }
  return main_status_;
}

Nanos Reaper::cpu() const { return from_timeval(used_.ru_utime) + from_timeval(used_.ru_stime); }

int kill_tree(Tree& tree, Reaper& reaper, os::Clock& clock) {
  const Nanos give_up = clock.monotonic() + std::chrono::seconds(10);
  while (true) {
    reaper.collect();
    const std::vector<ProcessStat> living = tree.living();
    if (living.empty() || clock.monotonic() > give_up) {
      reaper.collect();  // Those that died between the two lines above.
      return static_cast<int>(living.size());
    }
    for (const pid_t group : groups_of(living, reaper.main())) ::kill(-group, SIGKILL);
    for (const ProcessStat& stat : living) ::kill(stat.pid, SIGSTOP);
    for (const ProcessStat& stat : tree.living()) ::kill(stat.pid, SIGKILL);
    clock.sleep(std::chrono::milliseconds(1));
  }
}

}  // namespace amdahl::observe
