// The join of accounting with telemetry: whatever the order of inputs, whatever devices are called.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "ingest/hour_testing.h"
#include "scan/capacity.h"
#include "scan/usage_testing.h"

namespace amdahl::ingest {
namespace {

using namespace scan;

using model::Trouble;
using std::chrono::seconds;

std::string shown(const Split& split) {
  return fmt::format("{:.9g} {:.9g} {:.9g} {:.9g} {:.9g}", split.allocated, split.unobserved,
                     split.idle, split.low, split.productive);
}

// All that a report is made of, in an order of its own.
std::string digest(const FleetUsage& usage) {
  std::vector<std::string> lines;
  for (const FleetJob& job : usage.jobs) {
    std::string line = fmt::format("job {} {} {} {}: {}", usage.text(job.id), usage.text(job.user),
                                   job.start.count(), job.accelerators, shown(job.split));
    std::vector<std::string> lanes;
    for (const Lane& lane : usage.lanes_of(job)) {
      lanes.push_back(fmt::format("{}/{} {} {}", usage.text(lane.host),
                                  usage.text(lane.accelerator), usage.text(lane.metric),
                                  lane.samples));
    }
    std::ranges::sort(lanes);
    lines.push_back(line + " | " + join(lanes, ", "));
  }
  for (const HostCapacity& host : usage.capacities) {
    lines.push_back(fmt::format("host {} {} {} {:.9g}", usage.text(host.host),
                                usage.text(host.partition), host.accelerators, host.unallocated));
  }
  for (const HostDown& down : usage.down) {
    lines.push_back(fmt::format("down {} {} {:.9g}", usage.text(down.host),
                                usage.text(down.partition), down.seconds));
  }
  for (const TroubleCount& row : usage.troubles) {
    lines.push_back(fmt::format("{}: {}", model::name(row.trouble), row.count));
  }
  lines.push_back(fmt::format("{} samples, {} attributed, {:.9g} unclipped", usage.samples,
                              usage.attributed, usage.unclipped));
  std::ranges::sort(lines);
  return join(lines, "\n");
}

FleetJob job_of(const FleetUsage& usage, std::string_view id) {
  for (const FleetJob& job : usage.jobs) {
    if (usage.text(job.id) == id) return job;
  }
  ADD_FAILURE() << "no job " << id;
  return {};
}

// A line every minute of [from, to).
template <class Line>
std::string minutes(int from, int to, Line line) {
  std::string text;
  for (int minute = from; minute < to; ++minute) text += line(kStart + minute * 60);
  return text;
}

std::string smi_time(std::int64_t at) {
  const std::int64_t second = at - kStart;
  return fmt::format("2023/11/15 {:02}:{:02}:{:02}.000", second / 3600, second / 60 % 60,
                     second % 60);
}

TextInput smi_by_uuid(const std::string& host, const std::string& uuid, int percent) {
  TextInput input = text_input(
      "smi-" + host, "timestamp, uuid, utilization.gpu [%]\n" + minutes(0, 60, [&](auto at) {
                       return fmt::format("{}, {}, {} %\n", smi_time(at), uuid, percent);
                     }));
  input.host = host;
  input.zone = "UTC";
  return input;
}

TextInput names(const std::string& host, const std::string& text) {
  TextInput input = text_input("names-" + host, text);
  input.host = host;
  return input;
}

TEST(Join, AnyOrderOfInputsGivesTheSame) {
  TextInput mapped = text_input("mapped.csv", "t;node;g;v\n" + minutes(0, 60, [](auto at) {
                                                return fmt::format("{};n3;1;0.25\n", at);
                                              }));
  mapped.mapping =
      "row = \"sample\"\n[columns]\ntime = \"t\"\nhost = \"node\"\naccelerator = \"g\"\n"
      "value = { column = \"v\", metric = \"DCGM_FI_DEV_GPU_UTIL\", unit = \"fraction\" }\n";
  TextInput jobs = text_input(
      "jobs.csv", fmt::format("id;from;to;n;where\n30;{};{};1;n3\n", kStart, kStart + 1800));
  jobs.mapping =
      "row = \"job\"\n[columns]\nid = \"id\"\nstart = \"from\"\nend = \"to\"\n"
      "accelerators = \"n\"\nhosts = \"where\"\n";
  std::vector<TextInput> inputs = {
      text_input("sacct.txt", std::string(kSacct) + sacct_line("10", 0, 3600, "n1", "gres/gpu=1") +
                                  sacct_line("11", 0, 1800, "n2", "gres/gpu=1") +
                                  sacct_line("12", 0, 1800, "n1", "gres/shard=1")),
      text_input("places.csv", "jobid,host,gpu\n10,n1,0\n11,n2,1\n30,n3,1\n"),
      text_input(
          "dcgm.csv",
          "timestamp,Hostname,gpu,UUID,DCGM_FI_PROF_SM_ACTIVE\n" +
              minutes(0, 60, [](auto at) { return fmt::format("{},n1,0,GPU-a,0.5\n", at); })),
      names("n2", "GPU 1: A100 (UUID: GPU-b)\n"),
      smi_by_uuid("n2", "GPU-b", 80),
      text_input("sinfo.txt", "NODELIST|PARTITION|GRES\nn1|main|gpu:4,shard:8\nn2|main|gpu:4\n"),
      mapped,
      jobs,
  };
  const std::string want = digest(scan_all(inputs));
  // Each of them first, last, and all in many other orders.
  std::vector<std::size_t> order(inputs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::uint32_t luck = 1;
  for (int trial = 0; trial < 300; ++trial) {
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      luck = luck * 1664525 + 1013904223;
      std::swap(order[i], order[(luck >> 16) % (i + 1)]);
    }
    std::vector<TextInput> mixed;
    for (const std::size_t i : order) mixed.push_back(inputs[i]);
    ASSERT_EQ(digest(scan_all(mixed)), want) << fmt::format("{}", fmt::join(order, " "));
  }
  const FleetUsage usage = scan_all(inputs);
  EXPECT_NEAR(job_of(usage, "10").split.productive, 1800, 1);
  EXPECT_NEAR(job_of(usage, "11").split.productive, 1440, 1);
  EXPECT_NEAR(job_of(usage, "30").split.productive, 450, 1);
  EXPECT_NEAR(job_of(usage, "12").split.allocated, 900, 1e-3) << "one of two parts";
}

TEST(Join, ThePhillyWeekInAnyOrder) {
  const char* root = std::getenv("AMDAHL_CORPUS");
  if (!root) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  std::vector<TextInput> inputs;
  for (const char* name : {"dcgm_long.csv.gz", "gpu_alloc.csv.gz", "sacct.txt.gz"}) {
    std::ifstream file(std::string(root) + "/fleet/philly_synth_week/" + name, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    inputs.push_back(text_input(name, bytes.str()));
  }
  const Window week{seconds(1507507200), seconds(1508112000)};
  const auto by_name = [](const TextInput& a, const TextInput& b) { return a.name < b.name; };
  const std::string want = digest(scan_all(inputs, week));
  EXPECT_NE(want.find("1178480 attributed"), std::string::npos);
  while (std::next_permutation(inputs.begin(), inputs.end(), by_name)) {
    ASSERT_EQ(digest(scan_all(inputs, week)), want) << inputs[0].name << " " << inputs[1].name;
  }
}

TEST(Join, AUuidFindsItsPlaceByWhateverNamesBoth) {
  const std::vector<TextInput> accounting = {
      text_input("sacct.txt", std::string(kSacct) + sacct_line("1", 0, 3600, "n1", "gres/gpu=1")),
      text_input("places.csv", "jobid,host,gpu\n1,n1,2\n"), smi_by_uuid("n1", "GPU-c", 60)};
  const struct {
    const char* what;
    TextInput input;
  } cases[] = {
      {"nvidia-smi -L", names("n1", "GPU 2: A100 (UUID: GPU-c)\n")},
      {"nvidia-smi -L of no host", text_input("list", "GPU 2: A100 (UUID: GPU-c)\n")},
      {"a query", names("n1", "index, uuid\n2, GPU-c\n")},
      {"a table of the fleet", text_input("names.csv", "host,gpu,uuid\nn1,2,GPU-c\n")},
      {"nvidia-smi -q", names("n1",
                              "=====NVSMI LOG=====\nAttached GPUs : 8\nGPU 00000000:18:00.0\n"
                              "    GPU UUID : GPU-c\n    Minor Number : 2\n")},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    std::vector<TextInput> inputs = accounting;
    inputs.push_back(c.input);
    const FleetUsage usage = scan_all(inputs);
    EXPECT_NEAR(job_of(usage, "1").split.productive, 2160, 1);
    EXPECT_EQ(usage.attributed, 60U);
    EXPECT_EQ(count_of(usage, Trouble::kUnknownDevice), 0U);
    EXPECT_EQ(usage.capacities.size(), 1U);
    EXPECT_EQ(usage.capacities[0].accelerators, 1) << "one accelerator, whatever its names";
  }
  const FleetUsage lost = scan_all(accounting);
  EXPECT_EQ(lost.attributed, 0U);
  EXPECT_EQ(count_of(lost, Trouble::kUnknownDevice), 60U) << "counted, not dropped";
  EXPECT_NEAR(job_of(lost, "1").split.unobserved, 3600, 1e-6);
}

// Accounting may name devices by UUID, or by address as ClusterCockpit does.
TEST(Join, PlacesMayHaveNamesToo) {
  UsageAccumulator accumulator({.window = kHour});
  model::JobDraft job;
  job.id = "1";
  job.start = kHour.start;
  job.end = kHour.end;
  job.accelerators = 2;
  accumulator.job(job, {});
  accumulator.tell(fleet::Assignment{"1", "n1", "GPU-a"});
  accumulator.tell(fleet::Assignment{"1", "n1", "00000000:18:00.0"});
  accumulator.tell(fleet::Device{.host = "n1", .accelerator = "5", .bus = "0000:18:00.0"});
  const auto by_both = accumulator.series({"n1", "4", "GPU-a", "", "", "DCGM_FI_DEV_GPU_UTIL", ""});
  const auto by_index = accumulator.series({"n1", "5", "", "", "", "DCGM_FI_DEV_GPU_UTIL", ""});
  for (int at = 0; at < 3600; at += 60) {
    const fleet::Sample sample{kHour.start + seconds(at), 50};
    accumulator.samples(by_both, {&sample, 1});
    accumulator.samples(by_index, {&sample, 1});
  }
  EXPECT_FALSE(accumulator.came_late());
  const FleetUsage usage = std::move(accumulator).finish();
  EXPECT_NEAR(usage.jobs[0].split.productive, 3600, 1e-6);
  EXPECT_EQ(usage.lanes.size(), 2U);
}

TEST(Join, WhatComesTooLateIsSaid) {
  UsageAccumulator accumulator({.window = kHour});
  model::JobDraft job;
  job.id = "1";
  job.start = kHour.start;
  job.end = kHour.end;
  job.accelerators = 1;
  accumulator.job(job, {});
  accumulator.tell(fleet::Assignment{"1", "n1", "0"});
  const auto id = accumulator.series({"n1", "", "GPU-a", "", "", "DCGM_FI_DEV_GPU_UTIL", ""});
  const fleet::Sample first{kHour.start, 50};
  accumulator.samples(id, {&first, 1});
  EXPECT_FALSE(accumulator.came_late());
  accumulator.tell(fleet::Device{.host = "n1", .accelerator = "0", .uuid = "GPU-a"});
  EXPECT_TRUE(accumulator.came_late());
  const fleet::Sample second{kHour.start + seconds(60), 50};
  accumulator.samples(id, {&second, 1});
  const FleetUsage usage = std::move(accumulator).finish();
  EXPECT_EQ(usage.attributed, 1U) << "from then on";
}

TEST(Join, ShardsAreTheirFractionOfAnAccelerator) {
  const std::string sacct = std::string(kSacct) + sacct_line("1", 0, 3600, "n1", "gres/shard=3") +
                            sacct_line("2", 0, 3600, "n2", "gres/shard=3");
  const std::string nodes = "NODELIST|PARTITION|GRES\nn1|main|gpu:a100:2,shard:8\n";
  const FleetUsage usage =
      scan_all({text_input("sacct.txt", sacct), text_input("sinfo.txt", nodes)});
  EXPECT_NEAR(job_of(usage, "1").split.allocated, 2700, 1e-6);
  EXPECT_NEAR(job_of(usage, "2").split.allocated, 2700, 1e-6) << "as all other nodes have it";
  const FleetUsage mixed = scan_all(
      {text_input("sacct.txt", sacct), text_input("sinfo.txt", nodes + "n3|main|gpu:2,shard:4\n")});
  EXPECT_EQ(mixed.jobs.size(), 1U);
  EXPECT_EQ(count_of(mixed, Trouble::kUnknownPlace), 1U) << "nodes disagree, n2 says nothing";
  ASSERT_EQ(mixed.complaints.size(), 1U);
  EXPECT_EQ(mixed.complaints[0].trouble, Trouble::kUnknownPlace);
  EXPECT_TRUE(mixed.complaints[0].text.starts_with("job 2 had gres/shard=3;"))
      << mixed.complaints[0].text;
}

std::string mig_rows(std::string_view slice, std::string_view profile, std::string_view job,
                     double active, int gpu = 0) {
  return minutes(0, 60, [&](auto at) {
    return fmt::format("{},n1,{},{},{},{},{}\n", at, gpu, slice, profile, job, active);
  });
}
constexpr std::string_view kMigHeader =
    "timestamp,Hostname,gpu,GPU_I_ID,GPU_I_PROFILE,hpc_job,DCGM_FI_PROF_GR_ENGINE_ACTIVE\n";

TEST(Join, AMigSliceIsItsShareAndNeverBesideItsDevice) {
  const std::string sacct =
      std::string(kSacct) + sacct_line("1", 0, 3600, "n1", "gres/gpu:3g.20gb=1,gres/gpu=1") +
      sacct_line("2", 0, 3600, "n1", "gres/gpu=1");  // This site accounts no types.
  const FleetUsage usage = scan_all(
      {text_input("sacct.txt", sacct),
       text_input("dcgm.csv", std::string(kMigHeader) + mig_rows("1", "3g.20gb", "1", 0.5) +
                                  mig_rows("2", "1g.5gb", "2", 1) +
                                  mig_rows("", "", "1", 0.1) +  // The whole device.
                                  mig_rows("3", "1g.5gb", "", 0))});
  const FleetJob typed = job_of(usage, "1");
  EXPECT_NEAR(typed.split.allocated, 3600 * 3.0 / 7, 1e-3);
  EXPECT_NEAR(typed.split.productive, 1800 * 3.0 / 7, 1e-3)
      << "the device does not count beside it";
  EXPECT_EQ(typed.lanes, 1U);
  EXPECT_EQ(typed.split.unobserved, 0);
  const FleetJob untyped = job_of(usage, "2");
  EXPECT_NEAR(untyped.split.allocated, 3600 / 7.0, 1e-3) << "telemetry knows what it was";
  EXPECT_NEAR(untyped.split.productive, 3600 / 7.0, 1e-3);
  ASSERT_EQ(usage.capacities.size(), 1U);
  EXPECT_EQ(usage.capacities[0].accelerators, 1) << "slices are no accelerators";
}

TEST(Join, WhoHasADeviceHasItsSlices) {
  const FleetUsage usage = scan_all(
      {text_input("sacct.txt", std::string(kSacct) + sacct_line("1", 0, 3600, "n1", "gres/gpu=1")),
       text_input("places.csv", "jobid,host,gpu\n1,n1,0\n"),
       text_input("dcgm.csv", std::string(kMigHeader) + mig_rows("1", "4g.20gb", "", 1) +
                                  mig_rows("2", "3g.20gb", "", 0) +
                                  mig_rows("1", "2g.10gb", "", 0, 1) +
                                  mig_rows("2", "1g.5gb", "", 0, 1))});
  ASSERT_EQ(usage.capacities.size(), 1U);
  EXPECT_EQ(usage.capacities[0].accelerators, 2);
  EXPECT_NEAR(usage.capacities[0].unallocated, 3600 * 3.0 / 7, 1e-3) << "of the other device";
  const FleetJob job = job_of(usage, "1");
  EXPECT_EQ(job.lanes, 2U);
  EXPECT_NEAR(job.split.allocated, 3600, 1e-6);
  EXPECT_NEAR(job.split.productive, 3600 * 4.0 / 7, 1e-3);
  EXPECT_NEAR(job.split.idle, 3600 * 3.0 / 7, 1e-3);
}

TEST(Join, AMigUuidIsASliceOfItsDevice) {
  UsageAccumulator accumulator({.window = kHour});
  model::JobDraft job;
  job.id = "1";
  job.start = kHour.start;
  job.end = kHour.end;
  job.accelerators = 2.0 / 7;
  accumulator.job(job, {});
  accumulator.tell(fleet::Assignment{"1", "n1", "MIG-a"});
  accumulator.tell(fleet::Device{
      .host = "n1", .accelerator = "0", .slice = "MIG-a", .profile = "2g.10gb", .uuid = "MIG-a"});
  const auto mine =
      accumulator.series({"n1", "", "MIG-a", "MIG-a", "", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", ""});
  const auto other =
      accumulator.series({"n1", "", "MIG-b", "MIG-b", "", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", ""});
  for (int at = 0; at < 3600; at += 60) {
    const fleet::Sample sample{kHour.start + seconds(at), 0.5};
    accumulator.samples(mine, {&sample, 1});
    accumulator.samples(other, {&sample, 1});
  }
  const FleetUsage usage = std::move(accumulator).finish();
  EXPECT_NEAR(usage.jobs[0].split.allocated, 3600 * 2.0 / 7, 1e-3);
  EXPECT_NEAR(usage.jobs[0].split.productive, 1800 * 2.0 / 7, 1e-3);
  EXPECT_EQ(usage.jobs[0].split.unobserved, 0);
  ASSERT_EQ(usage.lanes.size(), 1U);
  EXPECT_EQ(usage.text(usage.lanes[0].accelerator), "0/MIG-a");
  ASSERT_EQ(usage.capacities.size(), 1U);
  EXPECT_EQ(usage.capacities[0].accelerators, 1) << "a slice of nobody knows what is no device";
}

// sinfo, sacctmgr and scontrol tell of the same drained node; a job still ran on it.
TEST(Join, DownTimeCountsOnce) {
  const auto at = [](int second) { return std::to_string(kStart + second); };
  const std::vector<TextInput> inputs = {
      text_input("sacct.txt", std::string(kSacct) + sacct_line("1", 0, 1800, "n1", "gres/gpu=1")),
      text_input("sinfo.txt", "NODELIST|PARTITION|GRES|STATE|TIMESTAMP\nn1|main|gpu:4|drained|" +
                                  at(600) + "\nn2|main|gpu:4|idle|Unknown\n"),
      text_input("events.txt", "NodeName|TimeStart|TimeEnd|State|TRES\nn1|" + at(600) +
                                   "|Unknown|DRAIN|gres/gpu=4\nn1|" + at(1200) + "|" + at(2400) +
                                   "|DOWN*|gres/gpu=4\n"),
      text_input("nodes.txt",
                 "NodeName=n1 Arch=x86_64\n   Gres=gpu:4\n   State=IDLE+DRAIN\n"
                 "   Partitions=main\n   Reason=fan [root@" +
                     at(600) + "]\n"),
  };
  std::vector<TextInput> mixed = inputs;
  for (std::size_t turn = 0; turn < inputs.size(); ++turn) {
    std::rotate(mixed.begin(), mixed.begin() + 1, mixed.end());
    const FleetUsage usage = scan_all(mixed);
    ASSERT_EQ(usage.down.size(), 1U);
    EXPECT_EQ(usage.text(usage.down[0].partition), "main");
    EXPECT_NEAR(usage.down[0].seconds, 3000.0 * 4 - 1200, 1e-6) << "less what the job had of it";
    const CapacityUse use = fleet_capacity(usage, total_of(usage.jobs));
    EXPECT_NEAR(use.total.value_or(0), 8 * 3600, 1e-6) << "each node is there once";
    EXPECT_NEAR(use.down.value_or(0), 10800, 1e-6);
    EXPECT_NEAR(use.unallocated.value_or(0), 8 * 3600 - 10800 - 1800, 1e-6);
  }
  const FleetUsage one = scan_all({inputs[0], inputs[2]});
  EXPECT_NEAR(one.down.at(0).seconds, 10800, 1e-6);
}

// As `sacctmgr -P show event` prints without being asked for TRES.
TEST(Join, EventsWithoutTresMeanTheWholeNode) {
  const auto at = [](int second) { return std::to_string(kStart + second); };
  const TextInput jobs =
      text_input("sacct.txt", std::string(kSacct) + sacct_line("1", 0, 1800, "n1", "gres/gpu=1"));
  const TextInput events = text_input(
      "events.txt", "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\nc|n2|" + at(600) + "|" +
                        at(1600) + "|DOWN|hw|root\nc|cpu1|" + at(0) + "|Unknown|DRAIN|x|r\n");
  const TextInput sinfo =
      text_input("sinfo.txt", "NODELIST|PARTITION|GRES\nn1|main|gpu:4\nn2|main|gpu:2\n");
  const FleetUsage usage = scan_all({jobs, events, sinfo});
  ASSERT_EQ(usage.down.size(), 1U);
  EXPECT_NEAR(usage.down[0].seconds, 2000, 1e-6);
  EXPECT_EQ(count_of(usage, Trouble::kMissing), 0U);
  const FleetUsage untold = scan_all({jobs, events});
  EXPECT_TRUE(untold.down.empty());
  EXPECT_EQ(count_of(untold, Trouble::kMissing), 2U);
}

TEST(Join, OccupancyToldTwiceCountsOnce) {
  const std::string rows =
      "time,total_gpu_num,running_gpu_num,idle_gpu_num\n2023-11-15 00:00:00,10,6,4\n";
  const FleetUsage usage =
      scan_all({text_input("vc1.csv", rows), text_input("again/vc1.csv", rows)}, std::nullopt);
  ASSERT_EQ(usage.occupied.size(), 1U);
  EXPECT_NEAR(usage.occupied[0].total, 600, 1e-6);
  EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 1U);
}

// Text with JobIDRaw alone beside what has both: whichever comes first.
TEST(Join, NumbersOfTheSchedulerAreTheJobsThatHaveThem) {
  const auto line = [](const std::string& ids, int to) {
    return fmt::format("{}|ada|COMPLETED|{}|{}|{}|{}|n1|gres/gpu=1\n", ids, kStart - 60, kStart,
                       kStart + to, to);
  };
  const std::string rest = "|User|State|Submit|Start|End|ElapsedRaw|NodeList|AllocTRES\n";
  const std::string raw = "JobIDRaw" + rest + line("301", 3600) + line("300", 3600) +
                          line("201", 600) + line("202", 600) + line("7", 60);
  const std::string both = "JobID|JobIDRaw" + rest + line("300+0|300", 3600) +
                           line("300+1|301", 3600) + line("200_1|201", 600) +
                           line("200_2|202", 600) + line("7|7", 60);
  for (const bool raw_first : {true, false}) {
    const FleetUsage usage = scan_all(
        {text_input("a.txt", raw_first ? raw : both), text_input("b.txt", raw_first ? both : raw)});
    std::set<std::string> ids;
    for (const FleetJob& job : usage.jobs) ids.emplace(usage.text(job.id));
    EXPECT_EQ(ids, (std::set<std::string>{"300+0", "300+1", "200_1", "200_2", "7"}));
    EXPECT_EQ(usage.jobs.size(), 5U);
    EXPECT_EQ(count_of(usage, Trouble::kDuplicate), 5U);
  }
}

TEST(Join, TheSameJobsInTwoTimeZonesAreSaid) {
  const auto table = [](int shift) {
    std::string text = "JobID|User|State|Submit|Start|End|ElapsedRaw|NodeList|AllocTRES\n";
    for (int id = 1; id <= 3; ++id) {
      text += fmt::format("{}|ada|COMPLETED|{}|{}|{}|{}|n1|gres/gpu=1\n", id, kStart - 60 + shift,
                          kStart + shift, kStart + shift + 600, 600);
    }
    return text;
  };
  const FleetUsage usage =
      scan_all({text_input("a.txt", table(0)), text_input("b.txt", table(3600))}, std::nullopt);
  EXPECT_EQ(usage.jobs.size(), 3U);
  EXPECT_EQ(count_of(usage, Trouble::kTwoZones), 3U);
  EXPECT_EQ(count_of(usage, Trouble::kRequeued), 0U);
}

}  // namespace
}  // namespace amdahl::ingest
