// Supervisors that are killed outright, with jobs that do what they can to outlive them.
#include "observe/guard.h"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using namespace std::chrono_literals;

class GuardTest : public InFolder {
 protected:
  // Runs the job in a supervisor of its own and kills that one when the job has made `ready`.
  void kill_supervisor_of(const std::string& script) {
    const pid_t supervisor = ::fork();
    if (supervisor == 0) {
      bool was_ready = false;
      // In the second look after the job was ready the guard knows all of it.
      const auto look = [&](const Live&) {
        if (was_ready) ::kill(::getpid(), SIGKILL);
        was_ready = os::exists(path("ready"));
      };
      const auto ended = supervise(shell(script), os::real_clock(), look);
      ::_exit(ended ? 7 : 8);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(supervisor, &status, 0), supervisor);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the job ended before its supervisor: " << status;
  }

  // The processes that the job named, one number a line, as far as they live. They are no children
  // of ours, so it takes a moment until whoever adopted them has collected the dead.
  std::vector<pid_t> living() const {
    std::vector<pid_t> found;
    const std::string text = *os::read_file(path("pids"));
    for (const std::string_view line : split(trim(text), '\n')) {
      const auto pid = to_number<pid_t>(line);
      const auto stat = os::read_file("/proc/" + std::string(line) + "/stat");
      if (!pid || !stat) continue;
      const auto parsed = parse_process_stat(*stat);
      if (parsed && parsed->state != 'Z' && parsed->state != 'X') found.push_back(*pid);
    }
    return found;
  }

  std::vector<pid_t> living_in_the_end() const {
    std::vector<pid_t> left = living();
    for (int i = 0; i < 2000 && !left.empty(); ++i) {
      os::real_clock().sleep(10ms);
      left = living();
    }
    return left;
  }
};

TEST_F(GuardTest, AKilledSupervisorTakesTheWholeTreeWithIt) {
  // A child, a child in the background that lost its parent, one in a session of its own, and one
  // there that has nothing left of the job's environment.
  kill_supervisor_of(
      "sleep 1000 & echo $! >> pids;"
      "(sleep 1000 & echo $! >> pids);"
      "setsid sh -c 'echo $$ >> pids; exec sleep 1000' & "
      "(setsid env -i sh -c 'echo $$ >> pids; exec sleep 1000' &) ;"
      "echo $$ >> pids; while [ $(wc -l < pids) -lt 5 ]; do sleep 0.01; done; touch ready; wait");
  EXPECT_EQ(living_in_the_end(), std::vector<pid_t>{});
}

TEST_F(GuardTest, WhatForksAllTheTimeIsCaughtToo) {
  write("storm.py",
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "def note(): open('pids', 'a').write('%d\\n' % os.getpid())\n"
        "note()\n"
        "for i in range(8):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        while True:\n"
        "            note()\n"
        "            if os.fork(): os._exit(0)\n"
        "            time.sleep(0.01)\n"
        "open('ready', 'w')\n"
        "time.sleep(1000)\n");
  kill_supervisor_of("exec /usr/bin/python3 -S storm.py");
  // Whoever is left goes on writing its number.
  bool silent = false;
  for (int i = 0; i < 100 && !silent; ++i) {
    const std::string before = *os::read_file(path("pids"));
    os::real_clock().sleep(200ms);
    silent = *os::read_file(path("pids")) == before;
  }
  EXPECT_TRUE(silent);
  EXPECT_EQ(living_in_the_end(), std::vector<pid_t>{});
}

TEST_F(GuardTest, AnOrdinaryEndLeavesNoGuard) {
  // The guard takes its name after the fork: on a busy machine the job may look before that.
  const model::Receipt receipt =
      run(shell("echo \"$AMDAHL_RUN_MARK\"; for i in $(seq 100); do ps -o comm= --ppid $PPID | "
                "grep guard && break; sleep 0.05; done"));
  EXPECT_EQ(receipt.left_behind, 0);
  EXPECT_NE(receipt.stdout_tail.find("amdahl-guard"), std::string::npos) << receipt.stdout_tail;
  EXPECT_EQ(trim(split(receipt.stdout_tail, '\n').front()).size(), 24u);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST_F(GuardTest, OneThatIsKilledIsNoHarmToTheJob) {
  const model::Receipt receipt =
      run(shell("kill -9 $(pgrep -P $PPID amdahl-guard); sleep 0.2; echo fine"));
  EXPECT_EQ(receipt.code, 0);
  EXPECT_EQ(receipt.stdout_tail, "fine\n");
}

}  // namespace
}  // namespace amdahl::observe
