#include "observe/ending.h"

#include <algorithm>
#include <csignal>
#include <limits>
#include <set>

#include <fmt/core.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

// Reaping costs a tenth of what reading a line of /proc does, so the dead go first.
constexpr int kDeadAtOnce = 100'000;

constexpr int kCallsOf = 1000;  // The same for /proc/PID/io: a storm of processes goes uncounted.

void add(timeval& sum, const timeval& more) { timeradd(&sum, &more, &sum); }

void add(FileCalls& sum, pid_t pid) {
  const auto text = os::read_file(fmt::format("/proc/{}/io", pid));
  if (!text) return;
  const FileCalls more = parse_file_calls(*text);
  sum.reads += more.reads;
  sum.writes += more.writes;
  sum.read_bytes += more.read_bytes;
  sum.written_bytes += more.written_bytes;
}

// Groups led by our descendants contain only our descendants, and so do all groups of a session
// other than our own: nobody can join a session, so a descendant created it. The kernel kills a
// group atomically, so no fork escapes. The main process's group may outlive it.
std::set<pid_t> groups_of(const std::vector<ProcessStat>& living, pid_t main) {
  std::set<pid_t> numbers{main};
  std::set<pid_t> groups;
  const pid_t ours = ::getsid(0);
  for (const ProcessStat& stat : living) numbers.insert(stat.pid);
  for (const ProcessStat& stat : living) {
    if (stat.session != ours || numbers.contains(stat.group)) groups.insert(stat.group);
  }
  return groups;
}

}  // namespace

FileCalls parse_file_calls(std::string_view text) {
  FileCalls calls;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    const auto number = to_number<std::int64_t>(line.substr(colon + 2));
    const std::string_view name = line.substr(0, colon);
    if (name == "syscr") calls.reads = number.value_or(0);
    if (name == "syscw") calls.writes = number.value_or(0);
    if (name == "rchar") calls.read_bytes = number.value_or(0);
    if (name == "wchar") calls.written_bytes = number.value_or(0);
  }
  return calls;
}

std::optional<int> Reaper::collect(int at_most) {
  for (int i = 0; i < at_most; ++i) {
    siginfo_t dead{};
    if (::waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) != 0 || dead.si_pid == 0) break;
    tree_.note_dead(dead.si_pid);
    if (calls_read_++ < kCallsOf) add(calls_, dead.si_pid);
    int status = 0;
    rusage used{};
    if (::wait4(dead.si_pid, &status, 0, &used) != dead.si_pid) break;
    if (dead.si_pid == main_) main_status_ = status;
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
  // First, before scanning /proc, which a fork storm can make slow; until it is reaped, its pid
  // cannot be reused.
  if (!reaper.main_status()) ::kill(-reaper.main(), SIGKILL);
  while (true) {
    reaper.collect(kDeadAtOnce);
    const std::vector<ProcessStat> living = tree.living();
    if (living.empty() || clock.monotonic() > give_up) {
      reaper.collect(std::numeric_limits<int>::max());  // Those that died since.
      return static_cast<int>(living.size());
    }
    for (const pid_t group : groups_of(living, reaper.main())) ::kill(-group, SIGKILL);
    for (const ProcessStat& stat : living) ::kill(stat.pid, SIGSTOP);
    for (const ProcessStat& stat : tree.living()) ::kill(stat.pid, SIGKILL);
    clock.sleep(std::chrono::milliseconds(1));
  }
}

}  // namespace amdahl::observe
