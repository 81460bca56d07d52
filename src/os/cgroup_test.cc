#include "os/cgroup.h"

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/files.h"
#include "os/host.h"
#include "os/testing.h"

namespace amdahl::os {
namespace {

using namespace std::chrono_literals;
using Folders = std::vector<std::string>;

// A machine of version 1 (CentOS 7), from a shell.
constexpr const char* kOne = R"(11:hugetlb:/
10:perf_event:/
9:cpuacct,cpu:/user.slice/batch
8:memory:/user.slice
7:cpuset:/
1:name=systemd:/user.slice/user-1000.slice/session-4.scope
)";
constexpr const char* kOneMounts = R"(17 60 0:17 / /sys rw,nosuid - sysfs sysfs rw
24 17 0:20 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:8 - tmpfs tmpfs ro,mode=755
25 24 0:21 / /sys/fs/cgroup/systemd rw,nosuid shared:9 - cgroup cgroup rw,xattr,name=systemd
29 24 0:25 / /sys/fs/cgroup/memory rw,nosuid,nodev shared:12 - cgroup cgroup rw,memory
30 24 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:13 - cgroup cgroup rw,cpuacct,cpu
)";

// A container of Docker on version 1: it sees the whole path and has its own group mounted.
constexpr const char* kOneDocker = R"(6:memory:/docker/3f9c2d
5:cpu,cpuacct:/docker/3f9c2d
0::/system.slice/containerd.service
)";
constexpr const char* kOneDockerMounts =
    "731 730 0:27 /docker/3f9c2d /sys/fs/cgroup/memory ro,nosuid master:11 - cgroup cgroup "
    "rw,memory\n"
    "732 730 0:28 /docker/3f9c2d /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:12 - cgroup cgroup "
    "rw,cpu,cpuacct\n";

// Version 2 (Debian 12), from a login; and from inside a container with a namespace of its own.
constexpr const char* kTwo = "0::/user.slice/user-1000.slice/session-2.scope\n";
constexpr const char* kTwoMounts =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 "
    "rw,nsdelegate,memory_recursiveprot\n";
constexpr const char* kTwoContainer = "0::/\n";

// Both (Debian 10, or systemd.unified_cgroup_hierarchy=hybrid): the controllers are of version 1.
constexpr const char* kHybrid = R"(8:memory:/system.slice/slurmd.service
4:cpu,cpuacct:/system.slice/slurmd.service
0::/system.slice/slurmd.service
)";
constexpr const char* kHybridMounts = R"(31 23 0:28 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro
32 31 0:29 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate
33 31 0:30 / /sys/fs/cgroup/memory rw,nosuid shared:14 - cgroup cgroup rw,memory
34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:15 - cgroup cgroup rw,cpu,cpuacct
)";

TEST(CgroupTest, FoldersGoFromTheOwnGroupToTheTop) {
  const struct {
    const char* name;
    const char* controller;
    const char* membership;
    const char* mounts;
    Folders want;
  } cases[] = {
      {"version 1",
       "cpu",
       kOne,
       kOneMounts,
       {"/sys/fs/cgroup/cpu,cpuacct/user.slice/batch", "/sys/fs/cgroup/cpu,cpuacct/user.slice",
        "/sys/fs/cgroup/cpu,cpuacct"}},
      {"version 1, another hierarchy",
       "memory",
       kOne,
       kOneMounts,
       {"/sys/fs/cgroup/memory/user.slice", "/sys/fs/cgroup/memory"}},
      {"a controller that is not mounted", "cpuset", kOne, kOneMounts, {}},
      {"a container of version 1",
       "cpu",
       kOneDocker,
       kOneDockerMounts,
       {"/sys/fs/cgroup/cpu,cpuacct"}},
      {"version 2",
       "cpu",
       kTwo,
       kTwoMounts,
       {"/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope",
        "/sys/fs/cgroup/user.slice/user-1000.slice", "/sys/fs/cgroup/user.slice",
        "/sys/fs/cgroup"}},
      {"a container of version 2", "memory", kTwoContainer, kTwoMounts, {"/sys/fs/cgroup"}},
      {"both: the controller is of version 1",
       "cpu",
       kHybrid,
       kHybridMounts,
       {"/sys/fs/cgroup/cpu,cpuacct/system.slice/slurmd.service",
        "/sys/fs/cgroup/cpu,cpuacct/system.slice", "/sys/fs/cgroup/cpu,cpuacct"}},
      {"both: the controller is of version 2",
       "io",
       kHybrid,
       kHybridMounts,
       {"/sys/fs/cgroup/unified/system.slice/slurmd.service", "/sys/fs/cgroup/unified/system.slice",
        "/sys/fs/cgroup/unified"}},
      {"outside our namespace", "cpu", "0::/../other\n", kTwoMounts, {}},
      {"mounted from elsewhere", "cpu", "0::/a\n", "1 2 0:3 /b /mnt rw - cgroup2 none rw\n", {}},
      {"a group that was removed",
       "cpu",
       "0::/a (deleted)\n",
       kTwoMounts,
       {"/sys/fs/cgroup/a", "/sys/fs/cgroup"}},
      {"a blank in the path",
       "cpu",
       "0::/\n",
       "1 2 0:3 / /my\\040groups rw - cgroup2 none rw\n",
       {"/my groups"}},
      {"no groups in the kernel", "cpu", "", "", {}},
      {"garbage", "cpu", "x\n1:2\n::\n0::a/b\n", "- - -\n - cgroup\n1 2 3 4 5 6 - cgroup2\n", {}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(cgroup_folders(c.controller, c.membership, c.mounts), c.want);
  }
}

TEST(CgroupTest, TheVersionsThatAreMountedHaveNames) {
  EXPECT_EQ(cgroup_versions(kOneMounts), "v1");
  EXPECT_EQ(cgroup_versions(kTwoMounts), "v2");
  EXPECT_EQ(cgroup_versions(kHybridMounts), "v1 and v2");
  EXPECT_EQ(cgroup_versions("24 17 0:20 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"), "");
}

class CgroupFilesTest : public testing::Test {
 protected:
  CgroupFilesTest() : folder_{testing::TempDir() + "cgroup_" + random_hex(12)} {}
  ~CgroupFilesTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    ASSERT_TRUE(make_dirs(std::filesystem::path(path).parent_path().string()));
    ASSERT_TRUE(write_file(path, text));
  }
  // Mounted in our folder instead.
  std::string here(std::string mounts) const {
    const std::string_view there = "/sys/fs/cgroup";
    for (std::size_t at = 0; (at = mounts.find(there, at)) != mounts.npos; at += folder_.size()) {
      mounts.replace(at, there.size(), folder_);
    }
    return mounts;
  }

  std::string folder_;
};

TEST_F(CgroupFilesTest, VersionTwoIsBoundByTheTightestGroupAroundIt) {
  // The scope itself has no cpu controller, the top never has limits.
  write("user.slice/user-1000.slice/session-2.scope/memory.max", "max\n");
  write("user.slice/user-1000.slice/cpu.max", "max 100000\n");
  write("user.slice/user-1000.slice/memory.max", "2147483648\n");
  write("user.slice/user-1000.slice/memory.events",
        "low 0\nhigh 7\nmax 41\noom 0\noom_kill 0\noom_group_kill 0\n");
  write("user.slice/cpu.max", "150000 100000\n");
  write("user.slice/cpu.stat",
        "usage_usec 8123\nuser_usec 8000\nsystem_usec 123\nnr_periods 40\nnr_throttled 12\n"
        "throttled_usec 345678\nnr_bursts 0\nburst_usec 0\n");
  write("user.slice/memory.max", "8589934592\n");
  const CgroupLimits limits = cgroup_limits(kTwo, here(kTwoMounts));
  EXPECT_EQ(limits.quota_cores, 1.5);
  EXPECT_EQ(limits.quota_folder, folder_ + "/user.slice");
  EXPECT_EQ(limits.memory_bytes, 2147483648);
  const auto counters = cgroup_counters(limits);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->throttled, 345'678us);
  EXPECT_EQ(counters->throttled_periods, 12);
  EXPECT_EQ(counters->memory_stalls, 41);
  std::filesystem::remove_all(folder_ + "/user.slice");
  EXPECT_FALSE(cgroup_counters(limits)) << "the group is gone";
}

TEST_F(CgroupFilesTest, VersionOneHasItsOwnFilesAndUnits) {
  write("cpu,cpuacct/user.slice/batch/cpu.cfs_quota_us", "50000\n");
  write("cpu,cpuacct/user.slice/batch/cpu.cfs_period_us", "100000\n");
  write("cpu,cpuacct/user.slice/batch/cpu.stat",
        "nr_periods 21\nnr_throttled 20\nthrottled_time 811760749\n");
  write("cpu,cpuacct/user.slice/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/user.slice/cpu.cfs_period_us", "100000\n");
  write("memory/user.slice/memory.limit_in_bytes", "1073741824\n");
  write("memory/user.slice/memory.failcnt", "3\n");
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  const CgroupLimits limits = cgroup_limits(kOne, here(kOneMounts));
  EXPECT_EQ(limits.quota_cores, 0.5);
  EXPECT_EQ(limits.memory_bytes, 1073741824);
  const auto counters = cgroup_counters(limits);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->throttled, 811'760'749ns);
  EXPECT_EQ(counters->throttled_periods, 20);
  EXPECT_EQ(counters->memory_stalls, 3);
}

TEST_F(CgroupFilesTest, NoLimitIsNoLimit) {
  const auto none = [&](const char* membership, const char* mounts) {
    const CgroupLimits limits = cgroup_limits(membership, here(mounts));
    const auto counters = cgroup_counters(limits);
    return limits.quota_cores == 0 && limits.memory_bytes == 0 && counters &&
           counters->throttled == 0ns && counters->memory_stalls == 0;
  };
  EXPECT_TRUE(none(kTwo, kTwoMounts)) << "nothing but the root group";
  EXPECT_TRUE(none("", "")) << "no groups in the kernel";
  write("cpu,cpuacct/system.slice/slurmd.service/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/system.slice/slurmd.service/cpu.cfs_period_us", "100000\n");
  write("memory/system.slice/slurmd.service/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_TRUE(none(kHybrid, kHybridMounts));
  write("cpu.max", "max 100000\n");
  write("memory.max", "garbage\n");
  EXPECT_TRUE(none(kTwoContainer, kTwoMounts));
}

TEST(CgroupTest, AQuotaLimitsTheCpusThatCountAsUsable) {
  const QuotaGroup group(0.5);
  if (group.folder().empty()) GTEST_SKIP() << group.why_not();
  const pid_t child = ::fork();
  if (child == 0) {
    std::ofstream(group.door()) << 0;
    const CgroupLimits limits = own_cgroup_limits();
    const bool found = limits.quota_cores == 0.5 && limits.quota_folder == group.folder();
    ::_exit(found && usable_cpus().size() == 1 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace amdahl::os
