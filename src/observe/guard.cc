#include "observe/guard.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/fork.h"
#include "os/host.h"

namespace amdahl::observe {
namespace {

constexpr std::size_t kMost = 4096;  // Members in a message; the rest is found by descent and mark.
constexpr int kHear = 3;
constexpr Nanos kGiveUp = std::chrono::seconds(10);

// Kills the job after its supervisor is gone.
class Hunt {
 public:
  // `session`: the supervisor's.
  Hunt(std::span<const ProcessIdentity> known, const std::string& mark, pid_t session)
      : row_{fmt::format("{}={}", Guard::kVariable, mark) + '\0'}, session_{session} {
    for (const ProcessIdentity& born : known) add(born);
  }

  // Whole groups at once, so that none can fork; processes in foreign groups are stopped first.
  void kill_all() {
    os::Clock& clock = os::real_clock();
    const Nanos until = clock.monotonic() + kGiveUp;
    while (clock.monotonic() < until) {
      bool is_over = !kill_groups();
      for (const pid_t pid : find()) {
        is_over = false;
        ::kill(pid, SIGSTOP);
      }
      if (is_over) return;
      kill_groups();
      for (const pid_t pid : find()) ::kill(pid, SIGKILL);
      clock.sleep(std::chrono::milliseconds(2));
    }
  }

 private:
  // A group or session led by a member, now or before, contains only members; and since nobody can
  // join a session, any session but the supervisor's was created by the job.
  void add(const ProcessIdentity& born) {
    known_[born.pid] = born.start_ticks;
    leaders_.insert(born.pid);
    if (born.group > 1 && (born.session != session_ || leaders_.contains(born.group))) {
      groups_.insert(born.group);
    }
  }

  // Whether there was any. Zombies still belong to their group.
  bool kill_groups() {
    std::erase_if(groups_, [](pid_t group) { return ::kill(-group, SIGKILL) != 0; });
    return !groups_.empty();
  }

  bool is_marked(pid_t pid) const {
    const auto rows = os::read_file(fmt::format("/proc/{}/environ", pid));
    if (!rows) return false;
    return rows->starts_with(row_) || rows->find('\0' + row_) != std::string::npos;
  }

  bool is_ours(const ProcessStat& stat) const {
    const auto found = known_.find(stat.pid);
    if (found != known_.end() && found->second == stat.start_ticks) return true;
    return known_.contains(stat.parent) || leaders_.contains(stat.group) ||
           leaders_.contains(stat.session);
  }

  // Those that live now. Strangers are looked at once: to be quicker than those who fork.
  std::vector<pid_t> find() {
    std::vector<ProcessStat> others = not_strangers();
    // An ended process has no children; its pid may be reused soon.
    std::erase_if(known_, [&](const auto& row) {
      return std::ranges::none_of(others, [&](const ProcessStat& stat) {
        return stat.pid == row.first && stat.start_ticks == row.second;
      });
    });
    std::vector<pid_t> living;
    const auto take = [&](const ProcessStat& stat) {
      add({stat.pid, stat.group, stat.session, stat.start_ticks});
      if (stat.state != 'Z' && stat.state != 'X') living.push_back(stat.pid);
    };
    for (const ProcessStat& stat : others) {
      if (is_marked(stat.pid)) take(stat);
    }
    for (bool added = true; added;) {
      added = std::erase_if(others, [&](const ProcessStat& stat) {
                const bool ours = is_ours(stat);
                if (ours && std::ranges::find(living, stat.pid) == living.end()) take(stat);
                return ours;
              }) > 0;
    }
    for (const ProcessStat& stat : others) strangers_.insert(stat.pid);
    return living;
  }

  std::vector<ProcessStat> not_strangers() const {
    std::vector<ProcessStat> found;
    for (const std::string& name : os::list("/proc")) {
      const auto pid = to_number<pid_t>(name);
      if (!pid || *pid == ::getpid() || *pid == 1 || strangers_.contains(*pid)) continue;
      const auto line = os::read_file(fmt::format("/proc/{}/stat", *pid));
      const auto stat = line ? parse_process_stat(*line) : std::nullopt;
      if (stat) found.push_back(*stat);
    }
    return found;
  }

  std::string row_;
  pid_t session_;
  std::map<pid_t, std::int64_t> known_;
  std::set<pid_t> leaders_;
  std::set<pid_t> groups_;
  std::set<pid_t> strangers_;
};

void leave_all_but(int hear) {
  // Locks and pipes of the supervisor must end with it, not with us.
  const int ear = ::fcntl(hear, F_DUPFD, kHear + 1);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::dup2(ear, kHear);
  if (::close_range(kHear + 1, ~0U, 0) == 0) return;
  for (int fd = kHear + 1; fd < 65536; ++fd) ::close(fd);
}

// Signals meant for the supervisor, which must not be handled twice.
void ignore_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGTSTP}) {
    ::signal(signal, SIG_IGN);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void stand(int hear, const std::string& mark) {
  const pid_t session = ::getsid(0);
  ::setsid();
  ::prctl(PR_SET_NAME, "amdahl-guard");
  ignore_signals();
  leave_all_but(hear);
  std::vector<ProcessIdentity> room(kMost);
  std::vector<ProcessIdentity> known;
  while (true) {
    const ssize_t got = ::recv(kHear, room.data(), room.size() * sizeof(ProcessIdentity), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 1) ::_exit(0);  // The farewell.
    if (got <= 0) break;
    known.assign(room.begin(),
                 room.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(got) /
                                                            sizeof(ProcessIdentity)));
  }
  Hunt(known, mark, session).kill_all();
  ::_exit(0);
}

}  // namespace

Guard::Guard() : mark_{os::random_hex(24)} {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  tell_ = os::Fd{ends[0]};
  const os::Fd hear{ends[1]};
  // No handler of ours may run in the child before it has laid them off.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = os::fork_with_retries();
  if (pid_ == 0) {
    ::close(tell_.get());
    stand(hear.get(), mark_);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Guard::~Guard() {
  if (pid_ <= 0) return;
  const char farewell = 0;
  ::send(tell_.get(), &farewell, sizeof farewell, MSG_NOSIGNAL);
  tell_ = os::Fd{-1};
  // It has nothing left to do, and one that the job has stopped would be waited for without end.
  ::kill(pid_, SIGKILL);
  // It may already have been reaped by a wait for all children of this process.
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guard::keep(std::span<const ProcessIdentity> members) {
  members = members.first(std::min(members.size(), kMost));
  if (pid_ <= 0 || members.empty() || std::ranges::equal(members, last_)) return;
  const ssize_t sent =
      ::send(tell_.get(), members.data(), members.size_bytes(), MSG_NOSIGNAL | MSG_DONTWAIT);
  // Sent again at the next sample if the socket is full.
  if (sent >= 0) last_.assign(members.begin(), members.end());
}

}  // namespace amdahl::observe
