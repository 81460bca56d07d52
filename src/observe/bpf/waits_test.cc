#include "observe/bpf/waits.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observe/bpf/kernel.h"
#include "observe/bpf/proc_sampler.h"
#include "observe/bpf/read_record.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using model::TaskWaits;
using model::Wait;

class WaitsTest : public InFolder {
 protected:
  static double total(const TaskWaits& task) {
    double sum = to_seconds(task.running + task.runqueue + task.preempted);
    for (const Nanos time : task.blocked) sum += to_seconds(time);
    return sum;
  }
};

TEST_F(WaitsTest, ASupervisedRunLeavesARecord) {
  RunOrder made = shell("sleep 0.3; exit 3");
  made.with_waits = true;
  EXPECT_EQ(run(made).code, 3);
  const auto summary = read_record(path("out/waits.jsonl"));
  ASSERT_TRUE(summary) << summary.error().text;
  ASSERT_FALSE(summary->tasks.empty());
  double asleep = 0;
  for (const TaskWaits& task : summary->tasks) asleep += to_seconds(task.blocked_in(Wait::kSleep));
  EXPECT_NEAR(asleep, 0.3, 0.1);
  EXPECT_EQ(summary->collector, summary->why_not.empty() ? "bpf" : "proc");
}

TEST_F(WaitsTest, WithoutAWishThereIsNoRecord) {
  run(shell("true"));
  EXPECT_FALSE(os::exists(path("out/waits.jsonl")));
}

TEST_F(WaitsTest, ARunThatDoesNotStartLeavesAnEmptyRecord) {
  RunOrder made = order({"no_such_program"});
  made.with_waits = true;
  EXPECT_EQ(run(made).ending, model::Ending::kNotStarted);
  const auto summary = read_record(path("out/waits.jsonl"));
  ASSERT_TRUE(summary) << summary.error().text;
}

// In a child that has given up root for good.
TEST_F(WaitsTest, WhereTheKernelRefusesItSaysSoAndLooksAtProc) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give up being root";
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    RunOrder made = shell("sleep 0.4");
    made.with_waits = true;
    made.with_syscalls = true;
    const auto receipt = supervise(made, os::real_clock());
    ::_exit(receipt && receipt->report_problems.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  const auto summary = read_record(path("out/waits.jsonl"));
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->collector, "proc");
  const std::string& told = summary->why_not;
  EXPECT_TRUE(told.starts_with("the kernel refused to load the BPF program: Operation not "
                               "permitted; run as root, or give this program CAP_BPF and "
                               "CAP_PERFMON") ||
              told.find("built without") != told.npos ||
              told.find("does not describe its types") != told.npos)
      << told;
  EXPECT_TRUE(told.ends_with("; system calls were not counted either")) << told;
  double asleep = 0;
  for (const TaskWaits& task : summary->tasks) asleep += to_seconds(task.blocked_in(Wait::kSleep));
  EXPECT_NEAR(asleep, 0.4, 0.2);
}

TEST_F(WaitsTest, LooksAtProcFindWhatThreadsWaitFor) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!::freopen("/dev/null", "w", stdout)) ::_exit(1);
    ::execl(TRUTH_PROGRAM, TRUTH_PROGRAM, "futex", nullptr);
    ::_exit(1);
  }
  ProcSampler sampler;
  sampler.follow(child);
  const Nanos start = os::real_clock().monotonic();
  while (::waitpid(child, nullptr, WNOHANG) == 0) {
    sampler.look(os::real_clock().monotonic() - start);
    os::real_clock().sleep(std::chrono::milliseconds(5));
  }
  const auto tasks = sampler.finish();
  const auto main = std::ranges::find(tasks, child, &TaskWaits::tid);
  ASSERT_NE(main, tasks.end());
  const auto producer = std::ranges::find(tasks, "producer", &TaskWaits::name);
  ASSERT_NE(producer, tasks.end());
  EXPECT_EQ(producer->process, child);
  EXPECT_GT(main->blocked_in(Wait::kFutex), main->life() / 2);
  EXPECT_NEAR(to_seconds(producer->running), 0.4, 0.1);
  for (const TaskWaits& task : tasks) EXPECT_NEAR(total(task), to_seconds(task.life()), 0.02);
}

TEST_F(WaitsTest, ARecordThatIsCutOffOrWrongIsAnError) {
  EXPECT_EQ(read_record(path("none")).error().text, path("none") + ": no such file");
  write("cut", "{\"amdahl\":\"waits\",\"version\":1}\n[1,2,3");
  EXPECT_EQ(read_record(path("cut")).error().text,
            path("cut") + ": is cut off, so its totals are missing");
  write("wrong", "{\"task\":{\"tid\":\"x\"}}\n");
  EXPECT_EQ(read_record(path("wrong")).error().text,
            path("wrong") + ": task/tid: must be a whole number");
}

}  // namespace
}  // namespace amdahl::observe
