#include "profile/offcpu.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "profile/testing.h"
#include "profile/waits_testing.h"

namespace amdahl::profile {
namespace {

using model::BpfSummary;

std::vector<std::string> names_of(const std::vector<Role>& roles) {
  std::vector<std::string> names;
  for (const Role role : roles) names.emplace_back(name(role));
  return names;
}

TEST(Roles, AreToldByFamilyAndWaits) {
  EXPECT_EQ(names_of(roles_of(sample_waits())),
            (std::vector<std::string>{"launcher", "step", "pool", "helper", "loader", "loader",
                                      "helper"}));
}

TEST(Roles, AnExecutedChildIsALoaderIfItWakesTheRank) {
  BpfSummary summary = sample_waits();
  summary.wakes.push_back({22, 11, 10, std::chrono::milliseconds(500)});
  EXPECT_EQ(roles_of(summary).back(), Role::kLoader);
}

TEST(Roles, RanksOfALauncherAreAllSteps) {
  BpfSummary summary = sample_waits();
  auto other = summary.tasks[1];
  other.tid = other.process = 31;
  auto loader = summary.tasks[4];
  loader.tid = loader.process = 32;
  loader.parent = 31;
  summary.tasks.push_back(other);
  summary.tasks.push_back(loader);
  const auto roles = roles_of(summary);
  EXPECT_EQ(roles[1], Role::kStep);
  EXPECT_EQ(roles[summary.tasks.size() - 2], Role::kStep);
  EXPECT_EQ(roles.back(), Role::kLoader);
}

TEST(Roles, AMainThreadThatOnlyWaitsLeavesTheStepsToTheBusiest) {
  BpfSummary summary;
  summary.wall = std::chrono::seconds(10);
  auto main = waits_task(1, 1, 0, "job");
  waits_block(main, model::Wait::kFutex, 9990, 1);
  auto worker = waits_task(2, 1, 1, "job");
  worker.running = std::chrono::seconds(9);
  auto reader = waits_task(3, 1, 1, "prefetcher");
  reader.running = std::chrono::seconds(1);
  summary.tasks = {main, worker, reader};
  EXPECT_EQ(names_of(roles_of(summary)), (std::vector<std::string>{"helper", "step", "loader"}));
}

TEST(Roles, ForkedWorkersWhoseEndIsWaitedForAreNoLoaders) {
  BpfSummary summary;
  summary.wall = std::chrono::seconds(10);
  auto shell = waits_task(1, 1, 0, "sh");
  waits_block(shell, model::Wait::kChild, 9900, 4);
  summary.tasks = {shell};
  for (const std::int64_t worker : {2, 3, 4}) {
    auto task = waits_task(worker, worker, 1, "sh");
    task.executed = false;
    task.running = std::chrono::seconds(3);
    summary.tasks.push_back(task);
    summary.wakes.push_back({worker, 1, 1, std::chrono::seconds(3)});
  }
  EXPECT_EQ(names_of(roles_of(summary)),
            (std::vector<std::string>{"launcher", "step", "step", "step"}));
}

TEST(Roles, TheHooksOwnThreadIsNoPartOfTheJob) {
  BpfSummary summary = sample_waits();
  const WaitsReport before = waits_report(summary);
  auto own = waits_task(14, 11, 11, "amdahl lines");
  own.running = std::chrono::seconds(9);
  waits_block(own, model::Wait::kFutex, 1000, 2000);
  summary.tasks.push_back(own);
  summary.wakes.insert(summary.wakes.begin(), {0, 14, 2000, std::chrono::seconds(1)});
  const WaitsReport after = waits_report(summary);
  EXPECT_EQ(after.wakes.size(), before.wakes.size());
  ASSERT_EQ(after.roles.size(), before.roles.size());
  for (std::size_t i = 0; i < after.roles.size(); ++i) {
    EXPECT_EQ(after.roles[i].threads, before.roles[i].threads);
    EXPECT_EQ(after.roles[i].running_s, before.roles[i].running_s);
  }
}

// A script that runs one program after the other.
TEST(Roles, ChildrenInARowAreOneStepThread) {
  BpfSummary summary;
  summary.wall = std::chrono::seconds(10);
  auto shell = waits_task(1, 1, 0, "sh");
  waits_block(shell, model::Wait::kChild, 9990, 5);
  summary.tasks = {shell};
  for (int i = 0; i < 5; ++i) {
    auto child = waits_task(10 + i, 10 + i, 1, "sleep");
    child.born = std::chrono::seconds(2 * i);
    child.died = std::chrono::seconds(2 * i + 2);
    child.running = std::chrono::milliseconds(1 + 4 * i);
    waits_block(child, model::Wait::kSleep, 1900, 1);
    summary.tasks.push_back(child);
  }
  EXPECT_EQ(names_of(roles_of(summary)),
            (std::vector<std::string>{"launcher", "step", "step", "step", "step", "step"}));
  const Facts facts = facts_of(summary);
  ASSERT_EQ(facts.causes.size(), 1U);
  EXPECT_EQ(facts.causes[0].because, "the step thread slept 9.50 s of 10.0 s");
  EXPECT_DOUBLE_EQ(facts.causes[0].share, 0.95);
}

TEST(OffCpu, AWaitForAThreadThatOnlySleepsIsACause) {
  BpfSummary summary = sample_waits();
  summary.wakes.push_back({13, 11, 100, std::chrono::milliseconds(800)});
  const Facts facts = facts_of(summary);
  const auto found =
      std::ranges::find(facts.causes, "waiting for another thread", &model::Cause::name);
  ASSERT_NE(found, facts.causes.end());
  EXPECT_DOUBLE_EQ(found->share, 0.08);
  EXPECT_EQ(found->because,
            "the step thread was blocked 0.8 s until another thread (not a loader or compute "
            "thread) woke it of 10.0 s");
}

// What is imported comes from a disk as data does, but no loader would help.
TEST(OffCpu, ReadsOfImportsAreTheJobsStartAndNoInput) {
  BpfSummary summary = sample_waits();
  model::WaitSite site;
  site.id = 2;
  site.tid = 11;
  site.reason = model::Wait::kRead;
  site.time = std::chrono::milliseconds(700);
  site.python = {{"<frozen importlib._bootstrap_external>", 1131, "get_data"},
                 {"/jobs/score.py", 95, "<module>"}};
  summary.sites.push_back(site);
  const Facts facts = facts_of(summary);
  const auto input = std::ranges::find(facts.causes, "waiting for input", &model::Cause::name);
  ASSERT_NE(input, facts.causes.end());
  EXPECT_NEAR(input->share, 0.33, 1e-9);
  const auto start =
      std::ranges::find(facts.causes, model::Bottleneck::kLifecycle, &model::Cause::bottleneck);
  ASSERT_NE(start, facts.causes.end());
  EXPECT_NEAR(start->share, 0.07, 1e-9);
  EXPECT_EQ(start->because,
            "the step thread was blocked 0.7 s in reads and page faults of modules and libraries "
            "of 10.0 s, 0.7 s of it at score.py:95 (<module>)");
}

// A thread of the library wakes who waits in a collective; it is the other ranks that were late.
TEST(OffCpu, AWaitInACollectiveIsCommunication) {
  BpfSummary summary = sample_waits();
  summary.wakes.push_back({13, 11, 40, std::chrono::milliseconds(800)});
  model::WaitSite site;
  site.id = 2;
  site.tid = 11;
  site.reason = model::Wait::kFutex;
  site.time = std::chrono::milliseconds(800);
  site.python = {
      {"/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py", 1541, "all_reduce"},
      {"/jobs/train.py", 13, "<module>"}};
  summary.sites.push_back(site);
  const Facts facts = facts_of(summary);
  const auto found =
      std::ranges::find(facts.causes, "waiting for other ranks", &model::Cause::name);
  ASSERT_NE(found, facts.causes.end());
  EXPECT_NEAR(found->share, 0.13, 1e-9);
  EXPECT_EQ(found->because,
            "the step thread was blocked 0.5 s on sockets and 0.8 s in torch.distributed of 10.0 "
            "s, 0.8 s of it at train.py:13 (<module>)");
  EXPECT_EQ(std::ranges::find(facts.causes, "waiting for another thread", &model::Cause::name),
            facts.causes.end());
}

// Gradients are exchanged inside of the backward pass, where torch's Python is not at work.
TEST(OffCpu, ABackwardPassOfSeveralRanksWaitsForTheOthers) {
  BpfSummary summary;
  summary.wall = std::chrono::seconds(10);
  auto shell = waits_task(10, 10, 1, "sh");
  waits_block(shell, model::Wait::kChild, 9990, 1);
  auto first = waits_task(11, 11, 10, "python3");
  first.running = std::chrono::seconds(6);
  waits_block(first, model::Wait::kFutex, 4000, 100);
  auto second = waits_task(12, 12, 10, "python3");
  second.running = std::chrono::seconds(10);
  summary.tasks = {shell, first, second};
  model::WaitSite site;
  site.id = 1;
  site.tid = 11;
  site.reason = model::Wait::kFutex;
  site.count = 100;
  site.time = std::chrono::seconds(4);
  site.python = {{"/usr/lib/python3/dist-packages/torch/autograd/__init__.py", 197, "backward"},
                 {"/jobs/train.py", 13, "work"}};
  summary.sites = {site};
  const Facts facts = facts_of(summary, 11);
  ASSERT_EQ(facts.causes.size(), 1U);
  EXPECT_EQ(facts.causes[0].id, "communication.ranks");
  EXPECT_TRUE(facts.causes[0].because.starts_with("2 step threads together were blocked "))
      << facts.causes[0].because;
  EXPECT_NEAR(facts.causes[0].share, 0.2, 1e-9);
  EXPECT_NEAR(facts.evidence.at("waits.hooked_collective_share"), 0.4, 1e-9);
  EXPECT_FALSE(facts_of(summary).evidence.contains("waits.hooked_collective_share"));

  // Of a device's work a thread of autograd tells.
  auto autograd = waits_task(13, 11, 11, "pt_autograd_0");
  autograd.executed = false;
  summary.tasks.push_back(autograd);
  EXPECT_TRUE(facts_of(summary, 11).causes.empty());
}

TEST(Roles, NobodyIsNothing) { EXPECT_TRUE(roles_of({}).empty()); }

TEST(OffCpu, EvidenceIsByRole) {
  const auto evidence = facts_of(sample_waits()).evidence;
  EXPECT_DOUBLE_EQ(evidence.at("waits.step.running_share"), 0.4);
  EXPECT_DOUBLE_EQ(evidence.at("waits.step.poll_share"), 0.3);
  EXPECT_DOUBLE_EQ(evidence.at("waits.step.until_loader_share"), 0.3);
  EXPECT_DOUBLE_EQ(evidence.at("waits.step.until_pool_share"), 0.1);
  EXPECT_DOUBLE_EQ(evidence.at("waits.step.runqueue_share"), 0.03);
  EXPECT_DOUBLE_EQ(evidence.at("waits.pool.futex_share"), 0.7) << "the idle thread is not in it";
  EXPECT_EQ(evidence.at("waits.loader.threads"), 2);
  EXPECT_EQ(evidence.at("waits.runqueue_p95_us"), 16);
  EXPECT_DOUBLE_EQ(evidence.at("waits.disk_read_ms"), 9);
  EXPECT_FALSE(evidence.contains("waits.launcher.threads"));
}

TEST(OffCpu, CausesAreOfTheStepThreadWithTheirNumbers) {
  const auto causes = facts_of(sample_waits()).causes;
  ASSERT_EQ(causes.size(), 3U);
  EXPECT_EQ(causes[0].bottleneck, model::Bottleneck::kInput);
  EXPECT_DOUBLE_EQ(causes[0].share, 0.4);
  EXPECT_EQ(causes[0].because,
            "the step thread was blocked 3.00 s waiting for a loader, 1.00 s in disk reads and 0 s "
            "in page faults of 10.0 s");
  EXPECT_EQ(causes[1].bottleneck, model::Bottleneck::kCommunication);
  EXPECT_DOUBLE_EQ(causes[1].share, 0.05);
  EXPECT_EQ(causes[2].bottleneck, model::Bottleneck::kContention);
  EXPECT_EQ(
      causes[2].because,
      "the step thread was runnable but not running 0.3 s and preempted 0.2 s, 40 times of 10.0 s");
}

TEST(OffCpu, ManyWakeUpsByThePoolAreACause) {
  BpfSummary summary = sample_waits();
  summary.tasks[1].wakeups = 30000;
  const auto causes = facts_of(summary).causes;
  EXPECT_EQ(causes.back().bottleneck, model::Bottleneck::kWakeups);
  EXPECT_DOUBLE_EQ(causes.back().share, 0.1);
}

TEST(OffCpu, WhatWasSampledSaysSoAndLeavesOutWhatItCannotKnow) {
  BpfSummary summary = sample_waits();
  summary.collector = "proc";
  summary.why_not = "not root";
  summary.sample_every = std::chrono::milliseconds(20);
  const Facts facts = facts_of(summary);
  EXPECT_EQ(facts.missing,
            (std::vector<std::string>{
                "waits: threads were sampled every 20.0 ms instead of at every switch: not root"}));
  EXPECT_EQ(facts.evidence.at("waits.sampled"), 1);
  EXPECT_FALSE(facts.evidence.contains("waits.wakeups_per_s"));
  EXPECT_FALSE(facts.evidence.contains("waits.step.until_loader_share"));
}

TEST(OffCpu, NoThreadsAreSaidToBeMissing) {
  EXPECT_EQ(facts_of(BpfSummary{}).missing,
            (std::vector<std::string>{"waits: no thread of the job was seen"}));
}

TEST(OffCpu, CountsWhereNobodyElseKnowsTheClass) {
  const auto profile = classify({}, run(1, 0.3F), {facts_of(sample_waits())});
  ASSERT_FALSE(profile.causes.empty());
  EXPECT_EQ(profile.causes.front().bottleneck, model::Bottleneck::kInput);
  EXPECT_EQ(profile.causes.front().id, "input.wait");

  model::Receipt told = run(1, 0.3F);
  report(told, {{"load_input", 100}});
  const auto with_phases = classify({}, told, {facts_of(sample_waits())});
  for (const model::Cause& cause : with_phases.causes) {
    if (cause.bottleneck == model::Bottleneck::kInput) {
      EXPECT_NE(cause.because.find("the job's phases"), std::string::npos) << cause.because;
    }
  }
}

TEST(OffCpu, PlacesNameTheFramesOrTheFile) {
  const auto places = places_of(sample_waits(), Role::kStep, 3);
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(show(places[0]), "3.00 s in 30 poll waits: poll < python3+0x2a");
  EXPECT_FALSE(places[0].line);
  EXPECT_TRUE(places_of(sample_waits(), Role::kPool, 3).empty());
}

}  // namespace
}  // namespace amdahl::profile
