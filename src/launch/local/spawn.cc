#include "launch/local/spawn.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fd.h"
#include "os/fork.h"

namespace amdahl::launch::local {
namespace {

// Between fork and exec: calls only what a signal handler may.
[[noreturn]] void detach_and_become(char* const* argv, char* const* env, int input, int log,
                                    int tell) {
  ::setsid();
  const pid_t second = os::fork_with_retries();
  if (second > 0) ::_exit(0);
  if (second == 0) {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(input, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execve(argv[0], argv, env);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(tell, &error, sizeof error);
  ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Result<> spawn_detached(const std::vector<std::string>& argv, const Environment& environment,
                        const std::string& log) {
  std::vector<std::string> words = argv;
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  const std::vector<char*> word_pointers = pointers(words);
  const std::vector<char*> variable_pointers = pointers(variables);

  const os::Fd input{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const os::Fd output{::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
  if (output.get() < 0) {
    return external(fmt::format("{}: {}", log, std::system_category().message(errno)));
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return external("cannot make a pipe");
  const os::Fd hear{ends[0]};
  os::Fd tell{ends[1]};
  const pid_t first = os::fork_with_retries();
  if (first == 0) {
    detach_and_become(word_pointers.data(), variable_pointers.data(), input.get(), output.get(),
                      tell.get());
  }
  if (first < 0) return external("cannot start a process for the worker");
  while (::waitpid(first, nullptr, 0) < 0 && errno == EINTR) {
  }
  tell = os::Fd{-1};
  int error = 0;
  ssize_t got = 0;
  while ((got = ::read(hear.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got == sizeof error) {
    return external(fmt::format("cannot start the worker {}: {}", argv.front(),
                                std::system_category().message(error)));
  }
  return Ok{};
}

}  // namespace amdahl::launch::local
