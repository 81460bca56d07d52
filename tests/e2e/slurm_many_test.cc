// Many pairs in flight on a real Slurm, with the ledger on a real PostgreSQL: a whole cycle starts
// as many programs for a thousand as for ten.
#include <csignal>
#include <cstdlib>
#include <map>

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster.h"
#include "json.h"
#include "ledger/postgres/testing/server.h"
#include "os/clock.h"
#include "os/host.h"

namespace amdahl::e2e {
namespace {

using ledger::postgres::TestServer;

constexpr int kMostPrograms = 6;

// How often the command and all that it starts called exec() with success, as the kernel says; -1
// if it failed. Its own exec() does not count.
int programs_started(const std::vector<std::string>& argv,
                     const std::map<std::string, std::string>& env) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr,
           PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
               PTRACE_O_EXITKILL);
  ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  int programs = -1;
  int code = -1;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (pid != child) continue;
      code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
      break;
    }
    const int event = status >> 16;
    programs += event == PTRACE_EVENT_EXEC ? 1 : 0;
    // A stop that ptrace brought about passes no signal on.
    const bool of_ptrace = event != 0 || WSTOPSIG(status) == SIGSTOP || WSTOPSIG(status) == SIGTRAP;
    ::ptrace(PTRACE_CONT, pid, nullptr, of_ptrace ? 0L : static_cast<long>(WSTOPSIG(status)));
  }
  return code == 0 ? programs : -1;
}

TEST(ProgramsStarted, AreCountedByExec) {
  EXPECT_EQ(programs_started({"/bin/true"}, {}), 0);
  EXPECT_EQ(programs_started({"/bin/sh", "-c", "/bin/true; (/bin/true; /bin/true) & wait"}, {}), 3);
  EXPECT_EQ(programs_started({"/bin/false"}, {}), -1);
}

TEST(SlurmMany, ACycleStartsAsManyProgramsForAThousandPairsAsForTen) {
  const Cluster cluster("/tmp/amdahl-slurm-" + os::random_hex(6));
  if (!cluster.runs()) GTEST_SKIP() << cluster.reason();
  const TestServer server{std::vector<std::string>{"fsync=off"}};
  if (!server.runs()) GTEST_SKIP() << server.reason();
  const bool slow = std::getenv("AMDAHL_SLOW") != nullptr;
  Sandbox sandbox;
  sandbox.add_nap_job();
  sandbox.write("job.sh", "#!/bin/sh\nsleep \"$(cat nap)\"\necho fine > \"$AMDAHL_OUT/result\"\n",
                true);
  sandbox.write("nap", "0.1");
  std::string spec = sandbox.read("job.toml");
  spec.replace(spec.find("time_limit_s = 20"), 17, "time_limit_s = 900");
  sandbox.write("job.toml", spec);
  const std::map<std::string, std::string> env{{"SLURM_CONF", cluster.conf()},
                                               {"AMDAHL_STATE", sandbox.path("state")},
                                               {"AMDAHL_CONFIG", sandbox.path("config.toml")},
                                               {"NO_COLOR", "1"}};
  const auto configure = [&](int pairs) {
    sandbox.write("config.toml",
                  "launcher = \"slurm\"\nslots = " + std::to_string(pairs) +
                      "\n[campaign]\nk = 2000\n[loop]\nper_family = 2000\nbusy_hosts = false\n"
                      "[slurm]\npoll_s = 1\nmost_queued = 5000\n[ledger]\nurl = \"" +
                      server.url("many") + "\"\n");
  };
  configure(10);
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}, env).code, 0);
  // Its profile and its A/A pairs come first; from then on its runs take longer than the test.
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch"}, env).code, 0);
  ASSERT_EQ(events(sandbox, "profile.recorded").size(), 1U);
  const std::size_t before = events(sandbox, "run.reserved").size();
  ASSERT_GE(before, 6U);
  sandbox.write("nap", "600");
  const int ideas = slow ? 300 : 30;
  for (int i = 0; i < ideas; ++i) {
    const std::string colour = "COLOUR=c" + std::to_string(i);
    ASSERT_EQ(sandbox.amdahl({"propose", "nap", "--env", colour, "--gain", "40"}, env).code, 0);
  }
  std::map<int, int> programs;
  for (int pairs = 10; pairs <= (slow ? 1000 : 100); pairs *= 10) {
    configure(pairs);
    const Nanos began = os::real_clock().monotonic();
    const Outcome filled = sandbox.amdahl({"cycle"}, env);
    ASSERT_EQ(filled.code, 0) << filled.err;
    const double filling = to_seconds(os::real_clock().monotonic() - began);
    const std::size_t in_flight = events(sandbox, "run.submitted").size() - before;
    EXPECT_GE(in_flight, static_cast<std::size_t>(pairs)) << filled.out << filled.err;
    programs[pairs] = programs_started({program(), "cycle"}, env);
    std::printf("%zu pairs in flight (%.1f s to submit): a cycle starts %d programs\n", in_flight,
                filling, programs[pairs]);
  }
  run({"scancel", "--me"}, env, "/tmp");
  for (const auto& [pairs, started] : programs) {
    EXPECT_EQ(started, programs[10]) << pairs;
    EXPECT_GE(started, 1) << pairs;
    EXPECT_LE(started, kMostPrograms) << pairs;
  }
}

}  // namespace
}  // namespace amdahl::e2e
