#include "observe/tasks.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "observe/testing.h"
#include "observe/tree.h"

namespace amdahl::observe {
namespace {

using namespace std::chrono_literals;

class TasksTest : public InFolder {
 protected:
  // In place, as the kernel does: a file that is open shows the new text.
  void waits(int process, int thread, int nanos) const {
    const std::string folder = path(fmt::format("{}/task/{}", process, thread));
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/schedstat") << fmt::format("123456 {} 54\n", nanos);
  }
  // A thread that ended: its file, open or not, has nothing more to say.
  void ends(int process, int thread) const {
    const std::string folder = path(fmt::format("{}/task/{}", process, thread));
    std::ofstream(folder + "/schedstat", std::ios::trunc).close();
    std::filesystem::remove_all(folder);
  }
};

TEST_F(TasksTest, TheSecondNumberIsTheWaiting) {
  EXPECT_EQ(parse_run_delay("406325071 19440265 54\n"), 19440265ns);
  for (const char* line : {"", "1", "1 2", "1 x 3", "1 2 3 4"}) {
    EXPECT_EQ(parse_run_delay(line), 0ns) << line;
  }
}

TEST_F(TasksTest, ThreadsThatEndKeepWhatTheyHadWaited) {
  for (const int most : {0, 1, 100}) {
    SCOPED_TRACE(most);
    int files_left = most;
    waits(7, 7, 100);
    waits(7, 8, 20);
    Tasks tasks(path("7"));
    tasks.look(2, files_left);
    EXPECT_EQ(tasks.run_delay(), 120ns);
    EXPECT_EQ(tasks.open_files(), std::min(most, 2));
    EXPECT_EQ(files_left, most - tasks.open_files());
    waits(7, 7, 150);
    waits(7, 8, 30);
    waits(7, 9, 5);
    tasks.look(3, files_left);
    EXPECT_EQ(tasks.run_delay(), 185ns);
    ends(7, 8);
    waits(7, 9, 6);
    tasks.look(2, files_left);
    EXPECT_EQ(tasks.run_delay(), 186ns);
    ends(7, 7);
    ends(7, 9);
    tasks.look(0, files_left);
    EXPECT_EQ(tasks.run_delay(), 186ns);
    EXPECT_EQ(files_left, most);
  }
}

TEST_F(TasksTest, AKernelThatDoesNotCountSaysNothing) {
  int files_left = 10;
  std::filesystem::create_directories(path("7/task/7"));
  Tasks tasks(path("7"));
  tasks.look(1, files_left);
  EXPECT_EQ(tasks.run_delay(), 0ns);
  EXPECT_EQ(files_left, 10);
}

TEST_F(TasksTest, TheTreeSumsProcessesTheDeadIncluded) {
  const auto stat = [&](int pid, char state) {
    std::filesystem::create_directories(path(std::to_string(pid)));
    std::ofstream(path(fmt::format("{}/stat", pid))) << fmt::format(
        "{} (job) {} 5 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9 9 9 9 9 9\n", pid, state);
  };
  Tree tree(5, folder_);
  stat(20, 'R');
  waits(20, 20, 1000);
  stat(21, 'R');
  waits(21, 21, 300);
  tree.sample();
  EXPECT_EQ(tree.run_delay(), 1300ns);
  // One is gone before we could look again; what it waited last is not known.
  waits(21, 21, 400);
  ends(21, 21);
  std::ofstream(path("21/stat"), std::ios::trunc).close();
  std::filesystem::remove_all(path("21"));
  tree.sample();
  EXPECT_EQ(tree.run_delay(), 1300ns);
  // A member is looked at once more when it is dead; who was never seen is not counted.
  waits(20, 20, 1500);
  tree.note_dead(20);
  EXPECT_EQ(tree.run_delay(), 1800ns);
  stat(22, 'Z');
  waits(22, 22, 50);
  tree.note_dead(22);
  EXPECT_EQ(tree.run_delay(), 1800ns);
  // One that we started ourselves is known from its first moment.
  stat(23, 'R');
  waits(23, 23, 1);
  tree.adopt(23);
  waits(23, 23, 7);
  tree.note_dead(23);
  EXPECT_EQ(tree.run_delay(), 1807ns);
}

// The real kernel: two that spin on one CPU each wait half of the time, and longer where others
// spin there too. Either way a spinner that does not run is waiting.
TEST_F(TasksTest, TwoSpinnersOnOneCpuWaitForEachOther) {
  const std::string spin = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
  RunOrder made = shell(fmt::format("({}) & {}; wait", spin, spin));
  made.cpus = {os::affinity_cpus().back()};
  const model::Receipt receipt = run(made);
  ASSERT_EQ(receipt.reason, "");
  const double wall = to_seconds(receipt.wall);
  const double cpu = to_seconds(receipt.cpu_user + receipt.cpu_system);
  const double waited = to_seconds(receipt.run_delay);
  if (waited == 0) GTEST_SKIP() << "this kernel does not count what a task waits";
  EXPECT_GT(waited, 0.8 * wall) << "half of the wall each";
  EXPECT_NEAR((waited + cpu) / wall, 2, 0.25);
}

TEST_F(TasksTest, AJobThatSleepsDoesNotWait) {
  const model::Receipt receipt = run(shell("sleep 1"));
  EXPECT_LT(receipt.run_delay, receipt.wall / 2);
}

}  // namespace
}  // namespace amdahl::observe
