#include "os/program.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/fd.h"

extern char** environ;

namespace amdahl::os {
namespace {

constexpr std::size_t kKeptOfErrors = 2000;

struct Pipe {
  Fd read{-1};
  Fd write{-1};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return external(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::vector<std::string> environment(const Program& program) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const bool left_out = std::ranges::any_of(
        program.without, [&](const std::string& prefix) { return text.starts_with(prefix); });
    const bool replaced = program.env.contains(text.substr(0, text.find('=')));
    if (!left_out && !replaced) all.push_back(text);
  }
  for (const auto& [name, value] : program.env) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// The text in a file that has no name.
Result<Fd> file_with(std::string_view text) {
  Fd file(::memfd_create("input", MFD_CLOEXEC));
  while (file.get() >= 0 && !text.empty()) {
    const ssize_t n = ::write(file.get(), text.data(), text.size());
    if (n < 0 && errno != EINTR) break;
    text.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
  if (!text.empty() || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return external(fmt::format("cannot pass a text to a program: {}", std::strerror(errno)));
  }
  return file;
}

Result<pid_t> start(const Program& program, int out, int errors) {
  const Fd text = program.input_text.empty() ? Fd(-1) : TRY(file_with(program.input_text));
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  if (text.get() >= 0) {
    ::posix_spawn_file_actions_adddup2(&files, text.get(), 0);
  } else {
    ::posix_spawn_file_actions_addopen(&files, 0, program.input.c_str(), O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&files, out, 1);
  ::posix_spawn_file_actions_adddup2(&files, errors, 2);
  std::vector<std::string> words = program.argv;
  std::vector<std::string> env = environment(program);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words[0].c_str(), &files, nullptr,
                                    pointers(words).data(), pointers(env).data());
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    return Error{Error::Kind::kUnsupported,
                 fmt::format("cannot start {}: {}", words[0], std::strerror(failed))};
  }
  return child;
}

// One child: ended and waited for when this goes.
class Child {
 public:
  explicit Child(pid_t pid) : pid_{pid} {}
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_;
};

// False at the end of the stream.
bool read_some(int fd, std::string& bytes) {
  bytes.resize(1 << 16);
  const ssize_t n = ::read(fd, bytes.data(), bytes.size());
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

Result<> run_program(const Program& program,
                     const std::function<Result<>(std::string_view bytes)>& out,
                     const std::function<bool()>& stop) {
  Pipe output = TRY(make_pipe());
  Pipe errors = TRY(make_pipe());
  Child child(TRY(start(program, output.write.get(), errors.write.get())));
  output.write = Fd(-1);
  errors.write = Fd(-1);
  const Nanos until = real_clock().monotonic() + program.limit;
  pollfd polled[] = {{output.read.get(), POLLIN, 0}, {errors.read.get(), POLLIN, 0}};
  std::string said;
  std::string bytes;
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    if (stop && stop()) return external(fmt::format("{}: interrupted", program.argv[0]));
    if (real_clock().monotonic() > until) {
      return external(
          fmt::format("{}: timeout after {}", program.argv[0], show_duration(program.limit)));
    }
    if (::poll(polled, 2, 100) <= 0) continue;
    if (polled[0].revents != 0) {
      if (!read_some(polled[0].fd, bytes)) polled[0].fd = -1;
      if (!bytes.empty()) TRY(out(bytes));
    }
    if (polled[1].revents != 0) {
      if (!read_some(polled[1].fd, bytes)) polled[1].fd = -1;
      said += bytes;
      if (said.size() > kKeptOfErrors) said.erase(0, said.size() - kKeptOfErrors);
    }
  }
  const int status = child.wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Ok{};
  const std::string how = WIFEXITED(status) ? fmt::format("exit {}", WEXITSTATUS(status))
                                            : fmt::format("signal {}", WTERMSIG(status));
  const std::string why(trim(said));
  return external(fmt::format("{}: {}{}{}", program.argv[0], how, why.empty() ? "" : ": ", why));
}

}  // namespace amdahl::os
