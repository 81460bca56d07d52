#include "observe/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/redact.h"
#include "base/text.h"
#include "observe/config.h"
#include "observe/fixes.h"
#include "observe/jail.h"
#include "os/fd.h"
#include "os/files.h"
#include "os/fork.h"

extern char** environ;

namespace amdahl {
std::span<const Embedded> embedded_inject();
}  // namespace amdahl

namespace amdahl::observe {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
}

std::optional<std::string> variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

// Calls `value_of` with the name in each "{env:NAME}" and replaces it by the result.
void each_reference(std::string& text,
                    const std::function<std::optional<std::string>(std::string_view)>& value_of) {
  constexpr std::string_view kOpen = "{env:";
  for (std::size_t at = 0; (at = text.find(kOpen, at)) != text.npos;) {
    const std::size_t end = text.find('}', at);
    if (end == text.npos) return;
    const std::string whole = text.substr(at, end + 1 - at);
    const auto value = is_reference(whole) ? value_of(std::string_view(whole).substr(
                                                 kOpen.size(), whole.size() - kOpen.size() - 1))
                                           : std::nullopt;
    if (value) text.replace(at, whole.size(), *value);
    at += value ? value->size() : whole.size();
  }
}

// The filled-in text; an error if it refers to a variable that is not there.
Result<std::string> resolved(const std::string& text, const RunOrder& order) {
  std::string missing;
  std::string probe = text;
  each_reference(probe, [&](std::string_view name) {
    if (!variable(name)) missing = name;
    return std::optional<std::string>{};
  });
  if (missing.empty()) return fill_in(text, order);
  return bad_input(fmt::format("the job uses {{env:{}}}, but {} is not set in amdahl's environment",
                               missing, missing));
}

std::map<std::string, std::string> inherited() {
  std::map<std::string, std::string> env;
  for (char** at = environ; at && *at; ++at) {
    const std::string_view row(*at);
    const std::size_t equals = row.find('=');
    if (equals == row.npos || equals == 0) continue;
    env[std::string(row.substr(0, equals))] = row.substr(equals + 1);
  }
  return env;
}

bool is_program(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// As execvp would, but on the job's PATH and from the job's folder.
std::string find_program(const std::string& name, const Launchable& job) {
  const auto from_workdir = [&](std::string_view folder) {
    return (fs::path(job.workdir) / folder / name).string();
  };
  if (name.find('/') != name.npos) return os::exists(from_workdir("")) ? from_workdir("") : "";
  const auto path = job.env.find("PATH");
  const std::string folders = path == job.env.end() ? "/usr/bin:/bin" : path->second;
  for (const std::string_view folder : split(folders, ':')) {
    if (is_program(from_workdir(folder))) return from_workdir(folder);
  }
  return "";
}

// NVIDIA's profilers take the ranges and the counters of a device for themselves.
bool is_in_nsight(const Launchable& job) {
  const std::string tool = fs::path(job.argv.front()).filename().string();
  return tool == "nsys" || tool == "ncu";
}

void preload(const std::string& library, Launchable& job) {
  std::string& libraries = job.env["LD_PRELOAD"];
  libraries = libraries.empty() ? library : library + ":" + libraries;
}

// OpenCL's calls and NVTX ranges, into traces in the run's folder.
Result<> add_inject(const RunOrder& order, Launchable& job) {
  const std::string folder = order.out_dir + "/inject";
  TRY(unpack(embedded_inject(), folder));
  const std::string library = folder + "/libamdahl_inject.so";
  preload(library, job);
  // A tool that is there already keeps its place.
  if (!is_in_nsight(job)) job.env.try_emplace("NVTX_INJECTION64_PATH", library);
  job.env["AMDAHL_INJECT_OUT"] = order.out_dir;
  return Ok{};
}

Result<> add_hook(const RunOrder& order, Launchable& job) {
  job.env["AMDAHL_HOOK_OUT"] = order.out_dir + "/hook.json";
  if (is_in_nsight(job)) job.env["AMDAHL_HOOK_STEPS"] = "0";
  return Ok{};
}

// What the child reports when exec fails.
struct Failure {
  enum Stage : int { kFolder, kAffinity, kExec } stage;
  int error;
};

std::string describe(const Failure& failure, const Launchable& job) {
  const std::string why = std::system_category().message(failure.error);
  switch (failure.stage) {
    case Failure::kFolder:
      return fmt::format("cannot enter the folder {}: {}", job.workdir, why);
    case Failure::kAffinity:
      return fmt::format("cannot pin to the CPUs {}: {}", fmt::join(job.cpus, ","), why);
    case Failure::kExec:
      break;
  }
  return fmt::format("cannot execute {}: {}", job.argv.front(), why);
}

// Runs between fork and exec: calls only what a signal handler may.
[[noreturn]] void become(const Launchable& job, char* const* argv, char* const* env,
                         const cpu_set_t* cpus, int tell) {
  const auto fail = [&](Failure::Stage stage) {
    const Failure failure{stage, errno};
    [[maybe_unused]] const ssize_t told = ::write(tell, &failure, sizeof failure);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  // If we are killed, the job must not continue unwatched and spoil the next measurement.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) {
      ::signal(signal, SIG_DFL);
    }
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(job.stdin_fd, STDIN_FILENO);
  ::dup2(job.stdout_fd, STDOUT_FILENO);
  ::dup2(job.stderr_fd, STDERR_FILENO);
  if (cpus && ::sched_setaffinity(0, sizeof *cpus, cpus) != 0) fail(Failure::kAffinity);
  if (::chdir(job.workdir.c_str()) != 0) fail(Failure::kFolder);
  ::execve(job.program.c_str(), argv, env);
  fail(Failure::kExec);
  ::_exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> found;
  for (std::string& word : words) found.push_back(word.data());
  found.push_back(nullptr);
  return found;
}

}  // namespace

std::string fill_in(std::string text, const RunOrder& order) {
  replace_all(text, "{out}", order.out_dir);
  replace_all(text, "{state}", order.state_dir);
  each_reference(text, [](std::string_view name) { return variable(name); });
  return text;
}

std::vector<std::string> secrets_of(const model::Plan& plan) {
  std::vector<std::string> values;
  const auto look = [&](std::string text) {
    each_reference(text, [&](std::string_view name) -> std::optional<std::string> {
      if (auto value = variable(name); value && !value->empty()) values.push_back(*value);
      return std::nullopt;
    });
  };
  for (const std::string& word : plan.argv) look(word);
  for (const auto& [name, value] : plan.env) look(value);
  for (const auto& [place, value] : plan.config) look(value);
  return values;
}

Result<Launchable> prepare(const RunOrder& order) {
  Launchable job;
  job.workdir = order.plan.workdir.empty() ? os::absolute(".") : order.plan.workdir;
  job.cpus = order.cpus;
  job.env = order.jail ? without_keys(inherited()) : inherited();
  for (const std::string& name : order.plan.unset) job.env.erase(name);
  for (const auto& [name, value] : order.plan.env) job.env[name] = TRY(resolved(value, order));
  job.env["AMDAHL_REPORT"] = order.out_dir + "/report.jsonl";
  job.env["AMDAHL_ACCELERATORS"] = std::to_string(order.plan.accelerators);
  job.env["AMDAHL_OUT"] = order.out_dir;
  job.env["AMDAHL_STATE"] = order.state_dir;
  for (const std::string& word : order.plan.argv) job.argv.push_back(TRY(resolved(word, order)));
  if (job.argv.empty()) return bad_input("the command is empty");
  std::map<std::string, std::string> config;
  for (const auto& [place, value] : order.plan.config) config[place] = TRY(resolved(value, order));
  TRY(apply_config(config, job.workdir, order.out_dir, job.argv));
  if (order.with_hook || !order.plan.inject.empty()) {
    // A list of paths cannot hold one with a colon, as of the runs of a stack.
    const bool in_state = order.out_dir.find(':') != order.out_dir.npos && !order.state_dir.empty();
    const std::string folder = (in_state ? order.state_dir : order.out_dir) + "/hook";
    TRY(write_hook(folder));
    std::string& python_path = job.env["PYTHONPATH"];
    python_path = folder + (python_path.empty() ? "" : ":") + python_path;
    if (needs_preload(order.plan.inject)) {
      preload(fmt::format("{}/{}", folder, kPreloadLibrary), job);
    }
  }
  if (!order.plan.inject.empty()) {
    job.env.merge(fix_variables(order.plan.inject, order.out_dir));
  }
  if (order.with_hook) {
    TRY(add_hook(order, job));
    TRY(add_inject(order, job));
  }
  job.program = find_program(job.argv.front(), job);
  if (order.jail && !job.program.empty()) {
    put_in_jail(order, job);
    Launchable ours;  // The job's PATH may not lead to it.
    ours.env = inherited();
    job.program = find_program(job.argv.front(), ours);
    if (job.program.empty()) return bad_input("bubblewrap is not installed");
  }
  return job;
}

Result<Started> start(const Launchable& job) {
  if (job.program.empty()) return Started{-1, "no such program: " + job.argv.front()};
  std::vector<std::string> argv = job.argv;
  std::vector<std::string> env;
  for (const auto& [name, value] : job.env) env.push_back(name + "=" + value);
  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> env_pointers = pointers(env);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : job.cpus) CPU_SET(static_cast<std::size_t>(cpu), &cpus);

  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return external("cannot make a pipe");
  const os::Fd hear{pipe_ends[0]};
  os::Fd tell{pipe_ends[1]};
  // No signal may run our handlers in the child before it has reset them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = os::fork_with_retries();
  const int fork_error = errno;
  if (pid == 0) {
    become(job, argv_pointers.data(), env_pointers.data(), job.cpus.empty() ? nullptr : &cpus,
           tell.get());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return external(
        fmt::format("cannot start a process: {}", std::system_category().message(fork_error)));
  }
  ::setpgid(pid, pid);
  tell = os::Fd{-1};
  Failure failure{};
  ssize_t got = 0;
  while ((got = ::read(hear.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (got == sizeof failure) {
    ::waitpid(pid, nullptr, 0);
    return Started{-1, describe(failure, job)};
  }
  return Started{pid, ""};
}

}  // namespace amdahl::observe
