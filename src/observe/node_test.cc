#include "observe/node.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/host.h"

namespace amdahl::observe {
namespace {

using namespace std::chrono_literals;

std::string environment_of(std::initializer_list<const char*> rows) {
  std::string text;
  for (const char* row : rows) text += std::string(row) + '\0';
  return text;
}

TEST(NodeWatch, ARankIsNamedByWhoeverKnowsItBest) {
  struct Case {
    std::string environment;
    int rank;
  };
  const Case cases[] = {
      {environment_of({"A=1", "SLURM_PROCID=3", "SLURM_STEP_ID=0"}), 3},
      {environment_of({"SLURM_PROCID=3"}), -1},  // The batch script.
      {environment_of({"SLURM_PROCID=1", "SLURM_STEP_ID=0", "RANK=2"}), 2},
      {environment_of({"OMPI_COMM_WORLD_RANK=5", "SLURM_PROCID=1", "SLURM_STEP_ID=0"}), 5},
      {environment_of({"RANK=x", "XRANK=4"}), -1},
      {environment_of({"RANK=-1"}), -1},
      {"", -1},
  };
  for (const Case& c : cases) EXPECT_EQ(rank_in(c.environment).rank, c.rank) << c.environment;
}

TEST(NodeWatch, OnlyMarkedProcessesOfTheNodeAreItsOwn) {
  const std::string own = environment_of({"AMDAHL_RANKS=t/A", "SLURMD_NODENAME=n1"});
  EXPECT_TRUE(is_marked(own, "t/A", "n1"));
  EXPECT_FALSE(is_marked(own, "t/A", "n2")) << "two nodes on one host";
  EXPECT_FALSE(is_marked(own, "t/B", "n1")) << "the other arm";
  EXPECT_FALSE(is_marked(own, "", "n1"));
  EXPECT_TRUE(is_marked(environment_of({"AMDAHL_RANKS=t/A"}), "t/A", "n1"));
}

// A marked process of another session that works, and would go on.
TEST(NodeWatch, SeesWhatRanksUseAndEndsWhatIsLeft) {
  const std::string mark = os::random_hex(12);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    ::setenv(kRankMark, mark.c_str(), 1);
    ::setenv("RANK", "1", 1);
    ::unsetenv("SLURMD_NODENAME");
    ::execlp("sh", "sh", "-c", "while :; do :; done", nullptr);
    ::_exit(127);
  }
  NodeWatch watch({"here", mark, 1});
  const Nanos start = os::real_clock().monotonic();
  for (int i = 0; i < 12; ++i) {
    os::real_clock().sleep(100ms);
    watch.tick(os::real_clock().monotonic());
  }
  const model::Receipt seen = watch.finish(start, os::real_clock().monotonic() - start);
  ASSERT_EQ(seen.hosts.size(), 1U);
  ASSERT_EQ(seen.hosts[0].ranks.size(), 1U);
  EXPECT_EQ(seen.hosts[0].ranks[0].rank, 1);
  EXPECT_GT(to_seconds(seen.hosts[0].ranks[0].cpu), 0.05);
  EXPECT_GT(seen.hosts[0].peak_rss_bytes, 0);
  EXPECT_EQ(seen.utilisation.accelerators.size(), 1U);
  EXPECT_EQ(watch.end_all(), 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

}  // namespace
}  // namespace amdahl::observe
