#include "observe/cgroup.h"

#include <fstream>

#include <fmt/format.h>

#include "observe/testing.h"
#include "os/testing.h"

namespace amdahl::observe {
namespace {

using namespace std::chrono_literals;

class CgroupMeterTest : public InFolder {
 protected:
  CgroupMeterTest() {
    put("proc/self/mountinfo", fmt::format("1 2 0:3 / {} rw - cgroup2 none rw\n", path("groups")));
    put("proc/self/cgroup", "0::/login\n");
    put("proc/42/cgroup", "0::/login\n");
    state('R');
  }

  // In place, as the kernel does: a file that is open shows the new text.
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  void state(char letter) const {
    put("proc/42/stat",
        fmt::format("42 (job) {} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9 9 9 9 9 9\n", letter));
  }
  void group(const std::string& name, const std::string& cpu_max, int throttled_us) const {
    put("groups/" + name + "/cpu.max", cpu_max + "\n");
    put("groups/" + name + "/cpu.stat",
        fmt::format("nr_periods 9\nnr_throttled {}\nthrottled_usec {}\n", throttled_us / 100,
                    throttled_us));
  }
};

TEST_F(CgroupMeterTest, OnlyWhatTheGroupCountedMeanwhileIsTheJobs) {
  group("login", "150000 100000", 7000);
  put("groups/login/memory.max", "1000000\n");
  put("groups/login/memory.events", "low 0\nhigh 0\nmax 5\n");
  CgroupMeter meter(path("proc"));
  meter.follow(42);
  group("login", "150000 100000", 9500);
  put("groups/login/memory.events", "low 0\nhigh 0\nmax 8\n");
  const model::CgroupUse use = meter.finish();
  EXPECT_EQ(use.quota_cores, 1.5);
  EXPECT_EQ(use.throttled, 2500us);
  EXPECT_EQ(use.throttled_periods, 25);
  EXPECT_EQ(use.memory_limit_bytes, 1'000'000);
  EXPECT_EQ(use.memory_stalls, 3);
}

TEST_F(CgroupMeterTest, AJobThatMovesToAnotherGroupIsFollowed) {
  group("login", "max 100000", 0);
  CgroupMeter meter(path("proc"));
  meter.follow(42);
  meter.sample();
  group("batch", "50000 100000", 1000);
  put("proc/42/cgroup", "0::/batch\n");
  meter.sample();
  group("batch", "50000 100000", 4000);
  meter.sample();
  // Version 1 shows a dead process in the root group: that is no move.
  state('Z');
  put("proc/42/cgroup", "0::/\n");
  meter.sample();
  // A transient group goes with the last of its processes.
  std::filesystem::remove_all(path("groups/batch"));
  const model::CgroupUse use = meter.finish();
  EXPECT_EQ(use.quota_cores, 0.5);
  EXPECT_EQ(use.throttled, 3000us);
  EXPECT_EQ(use.throttled_periods, 30);
}

TEST_F(CgroupMeterTest, WithoutGroupsThereIsNoLimit) {
  CgroupMeter meter(path("no_such_proc"));
  meter.follow(42);
  meter.sample();
  const model::CgroupUse use = meter.finish();
  EXPECT_EQ(use.quota_cores, 0);
  EXPECT_EQ(use.throttled, 0ns);
  EXPECT_EQ(use.memory_limit_bytes, 0);
  EXPECT_EQ(use.memory_stalls, 0);
}

// The real kernel and a real quota, so small that a job gets there on a busy machine too.
TEST_F(CgroupMeterTest, AJobUnderAQuotaIsThrottled) {
  const os::QuotaGroup group(0.02);
  if (group.folder().empty()) GTEST_SKIP() << group.why_not();
  const model::Receipt receipt = run(shell(
      fmt::format("echo $$ > {}; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", group.door())));
  EXPECT_EQ(receipt.reason, "");
  EXPECT_EQ(receipt.cgroup.quota_cores, 0.02);
  EXPECT_GT(receipt.cgroup.throttled, 0ns);
  EXPECT_GT(receipt.cgroup.throttled_periods, 0);
  // Held back is ready and not running.
  EXPECT_GE(receipt.run_delay, receipt.cgroup.throttled / 2);
}

}  // namespace
}  // namespace amdahl::observe
