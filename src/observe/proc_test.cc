#include "observe/proc.h"

#include <cmath>

#include <unistd.h>

#include "observe/testing.h"
#include "observe/tree.h"

namespace amdahl::observe {
namespace {

using ProcTest = InFolder;

std::string stat_line(int pid, const std::string& name, char state, int parent, int ticks) {
  return std::to_string(pid) + " (" + name + ") " + state + " " + std::to_string(parent) +
         " 77 78 0 -1 4194560 100 200 0 0 " + std::to_string(ticks) +
         " 5 7 3 20 0 4 0 100 1000000 250 18446744073709551615 1 1 0 0 0 0\n";
}

TEST_F(ProcTest, AProcessLineIsReadWhateverTheProgramsName) {
  for (const char* name : {"sh", "a b", "x) R 1 (y"}) {
    SCOPED_TRACE(name);
    const auto stat = parse_process_stat(stat_line(42, name, 'S', 7, 30));
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->pid, 42);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->parent, 7);
    EXPECT_EQ(stat->group, 77);
    EXPECT_EQ(stat->session, 78);
    EXPECT_EQ(stat->user_ticks, 30);
    EXPECT_EQ(stat->system_ticks, 5);
    EXPECT_EQ(stat->reaped_ticks, 10);
    EXPECT_EQ(stat->threads, 4);
    EXPECT_EQ(stat->start_ticks, 100);
    EXPECT_EQ(stat->resident_pages, 250);
  }
  for (const char* line : {"", "42", "42 (sh", "42 (sh) S 1", "x (sh) S 1 2 3", ")("}) {
    EXPECT_FALSE(parse_process_stat(line)) << line;
  }
}

TEST_F(ProcTest, TheHostsCountersComeFromThreeFiles) {
  write("stat",
        "cpu  100 10 50 800 20 3 7 9 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5 0 0\nprocs_running 4\n");
  write("loadavg", "1.50 0.75 0.10 2/99 9048\n");
  write("pressure/cpu",
        "some avg10=1.13 avg60=1.18 avg300=0.37 total=9340201\nfull avg10=0.00 total=1\n");
  const HostCounters host = read_host(folder_);
  EXPECT_EQ(host.busy_ticks, 170);
  EXPECT_EQ(host.steal_ticks, 9);
  EXPECT_EQ(host.total_ticks, 999);
  EXPECT_EQ(host.runnable, 4);
  EXPECT_EQ(host.load1, 1.5);
  EXPECT_EQ(host.waited_us, 9340201);
}

TEST_F(ProcTest, NoiseIsWhatWasNotOurs) {
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  write("stat", "cpu  0 0 0 0 0 0 0 0 0 0\nprocs_running 1\n");
  write("loadavg", "1.0 0 0 1/9 10\n");
  write("pressure/cpu", "some avg10=0 avg60=0 avg300=0 total=0\n");
  NoiseMeter meter(folder_);
  // 400 ticks busy of 1000, 50 stolen.
  write("stat", "cpu  400 0 0 550 0 0 0 50 0 0\nprocs_running 3\n");
  write("loadavg", "3.0 0 0 1/9 10\n");
  write("pressure/cpu", "some avg10=0 avg60=0 avg300=0 total=500000\n");
  const Nanos wall = std::chrono::seconds(8);
  const model::HostNoise noise = meter.finish(from_seconds(100 * tick), wall);
  EXPECT_NEAR(noise.foreign_cpu_cores, 300 * tick / 8, 1e-9);
  EXPECT_NEAR(noise.steal_share, 0.05, 1e-9);
  EXPECT_NEAR(noise.psi_cpu_some, 0.0625, 1e-9);
  EXPECT_NEAR(noise.run_queue, 2, 1e-9);
  EXPECT_NEAR(noise.load1, 3, 1e-9);
}

TEST_F(ProcTest, WhatIsMissingIsUnknownAndNotNought) {
  NoiseMeter meter(path("no_such_proc"));
  const model::HostNoise noise = meter.finish({}, std::chrono::seconds(1));
  EXPECT_TRUE(std::isnan(noise.load1));
  EXPECT_TRUE(std::isnan(noise.foreign_cpu_cores));
  EXPECT_TRUE(std::isnan(noise.steal_share));
  EXPECT_TRUE(std::isnan(noise.psi_cpu_some));
  EXPECT_TRUE(std::isnan(noise.run_queue));
}

TEST_F(ProcTest, TheTreeIsAllDescendantsAndNoOneElse) {
  write("9/stat", stat_line(9, "was here before", 'S', 5, 1000));
  Tree tree(5, folder_);
  write("3/stat", stat_line(3, "grandchild with a small number", 'R', 20, 100));
  write("20/stat", stat_line(20, "child", 'S', 5, 100));
  write("21/stat", stat_line(21, "stranger", 'S', 1, 100));
  write("22/stat", stat_line(22, "zombie", 'Z', 5, 100));
  write("5/stat", stat_line(5, "us", 'S', 1, 100));
  const TreeSample sample = tree.sample();
  EXPECT_EQ(sample.processes, 2);
  EXPECT_EQ(sample.threads, 8);
  EXPECT_EQ(sample.resident_bytes, 3 * 250 * ::sysconf(_SC_PAGESIZE));
  // 100 + 5 of its own and 10 of its children, three times.
  EXPECT_EQ(sample.cpu, Nanos(345 * (1'000'000'000 / ::sysconf(_SC_CLK_TCK))));
  std::vector<pid_t> numbers;
  for (const ProcessStat& stat : tree.living()) numbers.push_back(stat.pid);
  EXPECT_EQ(numbers, (std::vector<pid_t>{3, 20}));
}

}  // namespace
}  // namespace amdahl::observe
