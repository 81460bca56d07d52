#include "agent/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sandbox.h"
#include "observe/child.h"
#include "observe/guard.h"
#include "observe/tree.h"
#include "os/bubblewrap.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/files.h"

namespace amdahl::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// After SIGINT a client may still print what it used; then it must go.
struct Step {
  int signal;
  Nanos patience;
};
constexpr std::array<Step, 3> kLadder{
    {{SIGINT, seconds(4)}, {SIGTERM, milliseconds(1500)}, {SIGKILL, milliseconds(1500)}}};

// One output of the client, kept up to a limit.
struct Stream {
  os::Fd fd;
  std::string text;

  // False at its end.
  bool read_some(std::size_t most) {
    std::array<char, 1 << 16> bytes;
    const ssize_t n = ::read(fd.get(), bytes.data(), bytes.size());
    if (n > 0 && text.size() <= most) text.append(bytes.data(), static_cast<std::size_t>(n));
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
  }
};

class Client {
 public:
  Client(const ClientOrder& order, const std::function<bool()>& stop)
      : order_{order}, stop_{stop}, clock_{os::real_clock()}, tree_{::getpid()} {
    ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Client() { ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  ClientEnd run() {
    const Nanos until = clock_.monotonic() + order_.limit;
    if (!start()) return std::move(end_);
    while (!is_over()) {
      listen(milliseconds(50));
      tree_.sample();
      guard_.keep(tree_.seen());
      end_.too_long = out_.text.size() > order_.most_bytes || err_.text.size() > order_.most_bytes;
      end_.timed_out = clock_.monotonic() > until;
      end_.stopped = stop_ && stop_();
      if (!end_.too_long && !end_.timed_out && !end_.stopped) continue;
      climb();
      break;
    }
    kill_rest();
    while (listening() && listen(milliseconds(20))) {
    }
    end_.out = std::move(out_.text);
    end_.errors = std::move(err_.text);
    return std::move(end_);
  }

 private:
  bool start() {
    observe::Launchable job;
    end_.sandboxed = os::has_bubblewrap();
    job.argv = end_.sandboxed ? sandboxed(order_) : order_.argv;
    job.program = find_program(job.argv.front());
    job.env = order_.env;
    job.env[observe::Guard::kVariable] = guard_.mark();
    job.workdir = order_.workdir;
    const os::Fd input{::open(order_.input_file.c_str(), O_RDONLY | O_CLOEXEC)};
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    if (input.get() < 0 || ::pipe2(out.data(), O_CLOEXEC | O_NONBLOCK) != 0 ||
        ::pipe2(err.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
      return refuse("cannot open its input and output");
    }
    out_.fd = os::Fd{out[0]};
    err_.fd = os::Fd{err[0]};
    const os::Fd out_end{out[1]};
    const os::Fd err_end{err[1]};
    // Pipes that block are what programs expect.
    ::fcntl(out_end.get(), F_SETFL, 0);
    ::fcntl(err_end.get(), F_SETFL, 0);
    job.stdin_fd = input.get();
    job.stdout_fd = out_end.get();
    job.stderr_fd = err_end.get();
    const auto started = observe::start(job);
    if (!started) return refuse(started.error().text);
    if (started->pid < 0) return refuse(started->reason);
    pid_ = started->pid;
    tree_.adopt(pid_);
    return true;
  }

  bool refuse(std::string why) {
    end_.not_started = std::move(why);
    return false;
  }

  bool listening() const { return out_.fd.get() >= 0 || err_.fd.get() >= 0; }

  // Whether anything came.
  bool listen(Nanos wait) {
    std::array<pollfd, 2> polled{{{out_.fd.get(), POLLIN, 0}, {err_.fd.get(), POLLIN, 0}}};
    const auto ms = std::chrono::duration_cast<milliseconds>(wait).count();
    if (::poll(polled.data(), polled.size(), static_cast<int>(ms)) <= 0) return false;
    if (polled[0].revents != 0 && !out_.read_some(order_.most_bytes)) out_.fd = os::Fd{-1};
    if (polled[1].revents != 0 && !err_.read_some(order_.most_bytes)) err_.fd = os::Fd{-1};
    return true;
  }

  bool is_over() {
    if (pid_ <= 0) return true;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
    pid_ = 0;
    return true;
  }

  // Bubblewrap would die of SIGINT and take the client with it before that could say anything.
  void signal_all(int signal) {
    for (const observe::ProcessStat& member : tree_.living()) {
      const bool is_wrapper = end_.sandboxed && member.pid == pid_;
      if (member.state != 'Z' && (!is_wrapper || signal == SIGKILL)) ::kill(member.pid, signal);
    }
  }

  void climb() {
    for (const Step& step : kLadder) {
      signal_all(step.signal);
      const Nanos until = clock_.monotonic() + step.patience;
      while (!is_over()) {
        if (clock_.monotonic() > until) break;
        listen(milliseconds(20));
      }
      if (pid_ <= 0) return;
    }
  }

  void kill_rest() {
    const Nanos until = clock_.monotonic() + seconds(2);
    while (clock_.monotonic() < until) {
      const std::vector<observe::ProcessStat> left = tree_.living();
      if (left.empty()) break;
      for (const observe::ProcessStat& member : left) {
        ::kill(member.pid, SIGKILL);
        if (member.state == 'Z') ::waitpid(member.pid, nullptr, WNOHANG);
      }
      is_over();
      clock_.sleep(milliseconds(2));
    }
  }

  const ClientOrder& order_;
  const std::function<bool()>& stop_;
  os::Clock& clock_;
  observe::Guard guard_;
  observe::Tree tree_;
  int was_subreaper_ = 0;
  pid_t pid_ = 0;
  Stream out_{os::Fd{-1}, {}};
  Stream err_{os::Fd{-1}, {}};
  ClientEnd end_;
};

}  // namespace

ClientEnd run_client(const ClientOrder& order, const std::function<bool()>& stop) {
  return Client(order, stop).run();
}

}  // namespace amdahl::agent
