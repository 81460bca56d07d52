#include "profile/wait_lines.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profile/findings.h"
#include "profile/offcpu.h"
#include "profile/waits_testing.h"

namespace amdahl::profile {
namespace {

using model::BpfSummary;
using std::chrono::milliseconds;

// The step thread (11) reads for 1 s in load(), from two places of the interpreter, polls for 3 s
// in a library that next() calls, and runs 4 s, three quarters of it in decode().
BpfSummary sampled_waits() {
  BpfSummary summary = sample_waits();
  summary.sites[0].python = {{"/usr/lib/python3.11/queue.py", 171, "Queue.get"},
                             {"/job/input.py", 30, "next"},
                             {"/job/train.py", 50, "<module>"}};
  for (const int part : {600, 400}) {
    model::WaitSite read;
    read.id = part;
    read.tid = 11;
    read.reason = model::Wait::kRead;
    read.count = 50;
    read.time = milliseconds(part);
    read.longest = milliseconds(part / 10);
    read.python = {{"/job/input.py", 12, "load"}, {"/job/train.py", 50, "<module>"}};
    summary.sites.push_back(read);
  }
  summary.running = {{11, 30, {}, {{"/job/input.py", 20, "decode"}, {"/job/train.py", 51, "f"}}},
                     {12, 99, {}, {{"/job/pool.py", 1, "g"}}},
                     {11, 10, {{"/bin/x", 1, "f", "/job/x.cc", 9}}, {}}};
  return summary;
}

std::vector<std::string> shown_lines(const std::vector<LineCost>& costs) {
  std::vector<std::string> text;
  for (const LineCost& cost : costs) {
    text.push_back(fmt::format("{}:{} {} {:.1f}{}", cost.file, cost.line, cost.function,
                               cost.seconds, cost.waits_only ? " waits" : ""));
  }
  return text;
}

TEST(WaitLines, OwnLinesOfTheStepThreadHaveTheirSeconds) {
  EXPECT_EQ(
      shown_lines(line_costs(sampled_waits())),
      (std::vector<std::string>{"/job/train.py:50 <module> 4.0", "/job/input.py:20 decode 3.0",
                                "/job/input.py:30 next 3.0", "/job/train.py:51 f 3.0",
                                "/job/input.py:12 load 1.0", "/job/x.cc:9 f 1.0"}));
}

TEST(WaitLines, WithoutSamplesTheyAreWaitsOnly) {
  BpfSummary summary = sampled_waits();
  summary.running.clear();
  EXPECT_EQ(shown_lines(line_costs(summary)),
            (std::vector<std::string>{"/job/train.py:50 <module> 4.0 waits",
                                      "/job/input.py:30 next 3.0 waits",
                                      "/job/input.py:12 load 1.0 waits"}));
}

TEST(WaitLines, RanksAreTheMean) {
  BpfSummary summary = sampled_waits();
  auto other = summary.tasks[1];
  other.tid = other.process = 31;
  auto loader = summary.tasks[4];
  loader.tid = loader.process = 32;
  loader.parent = 31;
  summary.tasks.push_back(other);
  summary.tasks.push_back(loader);
  const auto costs = line_costs(summary);
  ASSERT_FALSE(costs.empty());
  EXPECT_DOUBLE_EQ(costs[0].seconds, 2.0);
}

TEST(WaitLines, AStackThatRecursCountsOnce) {
  BpfSummary summary = sampled_waits();
  summary.running.clear();
  summary.sites.resize(1);
  summary.sites[0].python = {{"/job/a.py", 1, "f"}, {"/job/a.py", 1, "f"}, {"/job/a.py", 9, "g"}};
  EXPECT_EQ(shown_lines(line_costs(summary)),
            (std::vector<std::string>{"/job/a.py:1 f 3.0 waits", "/job/a.py:9 g 3.0 waits"}));
}

TEST(WaitLines, WhatIsTheJobsOwn) {
  struct Case {
    std::string file;
    bool own;
  };
  const Case kCases[] = {
      {"/home/a/train.py", true},
      {"/usr/lib/python3.11/threading.py", false},
      {"/home/a/.venv/lib/python3.12/site-packages/torch/x.py", false},
      {"/usr/include/c++/12/condition_variable", false},
      {"<frozen importlib._bootstrap>", false},
      {"./nptl/futex-internal.c", false},
      {"", false},
  };
  for (const Case& c : kCases) EXPECT_EQ(is_own_source(c.file), c.own) << c.file;
}

TEST(WaitLines, CausesNameTheLineThatWaited) {
  const Facts facts = facts_of(sampled_waits());
  const auto input =
      std::ranges::find(facts.causes, model::Bottleneck::kInput, &model::Cause::bottleneck);
  ASSERT_NE(input, facts.causes.end());
  EXPECT_NE(input->because.find(", 3.00 s of it at input.py:30 (next)"), std::string::npos)
      << input->because;
}

TEST(WaitLines, PlacesThatReadTheSameAreOne) {
  const auto places = places_of(sampled_waits(), Role::kStep, 5);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(show(places[0]),
            "3.00 s in 30 poll waits: queue.py:171 (Queue.get) < input.py:30 (next) < "
            "train.py:50 (<module>)");
  ASSERT_TRUE(places[0].line);
  EXPECT_EQ(show(*places[0].line), "input.py:30 (next)");
  EXPECT_EQ(show(places[1]),
            "1.00 s in 100 read waits: input.py:12 (load) < train.py:50 (<module>)");
  EXPECT_DOUBLE_EQ(places[1].longest_s, 0.06);
}

TEST(WaitLines, OurOwnHookIsNotTheJob) {
  BpfSummary summary = sampled_waits();
  summary.sites.resize(1);
  summary.sites[0].python.insert(summary.sites[0].python.begin(),
                                 {"/state/profiles/p-1/hook/sitecustomize.py", 82, "timed"});
  const auto places = places_of(summary, Role::kStep, 5);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].stack,
            "queue.py:171 (Queue.get) < input.py:30 (next) < train.py:50 (<module>)");
}

// Sleeping is nobody's work.
TEST(WaitLines, OurOwnLibraryIsNotTheJob) {
  BpfSummary summary = sampled_waits();
  summary.running = {{11,
                      10,
                      {{"/state/inject/libamdahl_inject.so", 1, "clFinish", "/src/opencl.cpp", 45},
                       {"/bin/x", 1, "f", "/job/x.cc", 9}},
                      {}}};
  EXPECT_EQ(shown_lines(line_costs(summary)).front(), "/job/train.py:50 <module> 4.0");
  for (const LineCost& cost : line_costs(summary)) EXPECT_NE(cost.file, "/src/opencl.cpp");
}

TEST(WaitLines, SleepIsACauseWithItsLine) {
  BpfSummary summary = sampled_waits();
  waits_block(summary.tasks[1], model::Wait::kSleep, 2000, 10);
  summary.sites[1].reason = model::Wait::kSleep;
  const Facts facts = facts_of(summary);
  const auto sleep = std::ranges::find(facts.causes, "sleeping", &model::Cause::name);
  ASSERT_NE(sleep, facts.causes.end());
  EXPECT_DOUBLE_EQ(sleep->share, 0.2);
  EXPECT_EQ(sleep->because,
            "the step thread slept 2.00 s of 10.0 s, 0.6 s of it at input.py:12 (load)");
}

TEST(WaitLines, TheReportHoldsEveryKind) {
  const WaitsReport report = waits_report(sampled_waits());
  EXPECT_EQ(report.collector, "bpf");
  EXPECT_EQ(report.roles.size(), 5U);
  EXPECT_EQ(report.places.size(), 2U);
  ASSERT_EQ(report.wakes.size(), 5U);
  EXPECT_EQ(report.wakes[1].waker_name, "python3");
  ASSERT_EQ(report.disks.size(), 1U);
  EXPECT_EQ(report.disks[0].name, "vda");
}

// Lines that only waited tell nothing of one that computes.
TEST(WaitLines, AFindingIsNotDroppedBecauseItsFileWaited) {
  code::Finding found;
  found.rule = "x";
  found.file = "/job/input.py";
  found.line = found.end_line = 99;
  found.explains = {"input_share"};
  model::Profile profile;
  profile.wall = std::chrono::seconds(10);
  profile.evidence["input_share"] = 0.3;
  LineCost cost;
  cost.file = "/job/input.py";
  cost.line = 12;
  cost.seconds = 1;
  cost.waits_only = true;
  EXPECT_EQ(findings(std::vector{found}, profile, std::vector{cost}).size(), 1U);
  cost.waits_only = false;
  EXPECT_TRUE(findings(std::vector{found}, profile, std::vector{cost}).empty());
}

// A forked worker has the lines of its parent around its own: waiting for orders is none of them.
TEST(WaitLines, TheLineThatLoadersWereAtIsOfWhatTheyWereTold) {
  EXPECT_EQ(loader_line(sample_waits()), std::nullopt);
  model::BpfSummary waits = sample_waits();
  const std::string torch = "/usr/lib/python3/dist-packages/torch/utils/data/";
  const std::vector<model::PythonFrame> around = {
      {torch + "_utils/worker.py", 240, "_worker_loop"},
      {"/usr/lib/python3.11/multiprocessing/process.py", 108, "run"},
      {"/job/train.py", 30, "main"}};
  const auto below = [&](std::vector<model::PythonFrame> inner) {
    inner.insert(inner.end(), around.begin(), around.end());
    return inner;
  };
  const auto decode = below({{"/usr/lib/python3/dist-packages/PIL/Image.py", 9, "open"},
                             {"/job/data.py", 14, "decode"},
                             {"/job/data.py", 30, "__getitem__"},
                             {torch + "_utils/fetch.py", 51, "<listcomp>"}});
  const auto crop = below({{"/job/data.py", 20, "crop"}, {"/job/data.py", 31, "__getitem__"}});
  waits.running = {
      {20, 90, {}, decode}, {20, 10, {}, crop}, {21, 50, {}, decode}, {21, 50, {}, crop}};
  model::WaitSite orders;
  orders.id = 2;
  orders.tid = 20;
  orders.time = std::chrono::seconds(100);
  orders.python = around;
  waits.sites.push_back(orders);
  const auto found = loader_line(waits);
  ASSERT_TRUE(found);
  EXPECT_EQ(show(found->line), "data.py:14 (decode)");
  EXPECT_DOUBLE_EQ(found->seconds, 8 * 0.9 + 8 * 0.5);
  EXPECT_DOUBLE_EQ(found->share, 11.2 / 16);

  // A disk that it waited for counts, with the line that read.
  model::WaitSite disk = orders;
  disk.id = 3;
  disk.time = std::chrono::seconds(14);
  disk.python = crop;
  waits.sites.push_back(disk);
  EXPECT_EQ(show(loader_line(waits)->line), "data.py:20 (crop)");
  EXPECT_DOUBLE_EQ(loader_line(waits)->share, (4.8 + 14) / 30);
}

}  // namespace
}  // namespace amdahl::profile
