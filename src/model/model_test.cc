// What the nouns can do by themselves.
#include <csignal>

#include <gtest/gtest.h>

#include "model/change.h"
#include "model/hypothesis.h"
#include "model/usage.h"

namespace amdahl::model {
namespace {

TEST(Change, LaterWins) {
  Change earlier;
  earlier.env = {{"A", "1"}, {"B", "1"}};
  earlier.args = {{"--x", "1"}};
  earlier.accelerators = 4;
  earlier.wrap = {"nice"};
  earlier.patch = "one";
  Change later;
  later.env = {{"B", std::nullopt}};
  later.args = {{"--x", ""}, {"--y", "2"}};
  later.wrap = {"numactl", "--localalloc"};
  later.patch = "two\n";
  const Change both = combine(earlier, later);
  EXPECT_EQ(describe(both),
            "--x, --y 2, A=1, without B, 4 accelerators, under numactl --localalloc nice, a patch "
            "of 0 lines");
  EXPECT_EQ(both.patch, "one\ntwo\n");
  EXPECT_EQ(combine(both, {}), both);
  EXPECT_EQ(combine({}, both), both);
  EXPECT_EQ(combine(both, both).patch, both.patch);
  // The same program again replaces itself.
  Change other = later;
  other.wrap = {"numactl", "--interleave=all"};
  EXPECT_EQ(combine(later, other).wrap, other.wrap);
}

TEST(Change, AsAPersonReadsIt) {
  Change change;
  EXPECT_TRUE(is_empty(change));
  EXPECT_EQ(describe(change), "no change");
  change.args = {{"--batch", "32"}, {"--amp", ""}, {"--slow", std::nullopt}, {"--tag", "a b"}};
  change.env = {{"OMP_WAIT_POLICY", "passive"}};
  change.config = {{"c.json#a.b", "3"}};
  change.accelerators = 1;
  change.patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
  change.needs_build = true;
  EXPECT_FALSE(is_empty(change));
  EXPECT_EQ(describe(change),
            "--amp, --batch 32, without --slow, --tag 'a b', OMP_WAIT_POLICY=passive, "
            "c.json#a.b = 3, 1 accelerator, a patch of 2 lines, rebuilt");
}

TEST(Receipt, HowItEnded) {
  struct Case {
    Ending ending;
    int code;
    const char* reason;
    const char* want;
  };
  constexpr Case kCases[] = {
      {Ending::kExited, 0, "", "exit 0"},
      {Ending::kExited, 1, "ignored", "exit 1"},
      {Ending::kSignalled, SIGSEGV, "", "killed by SIGSEGV"},
      {Ending::kSignalled, 60, "", "killed by signal 60"},
      {Ending::kTimeLimit, 0, "over the time limit of 30 s", "over the time limit of 30 s"},
      {Ending::kTimeLimit, 0, "", "over the time limit"},
      {Ending::kMemoryLimit, 0, "", "over the memory limit"},
      {Ending::kCancelled, 0, "", "cancelled"},
      {Ending::kNotStarted, 0, "no such file", "not started: no such file"},
  };
  for (const Case& c : kCases) {
    Receipt receipt;
    receipt.ending = c.ending;
    receipt.code = c.code;
    receipt.reason = c.reason;
    EXPECT_EQ(describe_ending(receipt), c.want);
    EXPECT_EQ(succeeded(receipt), std::string_view(c.want) == "exit 0");
  }
}

TEST(Receipt, UsageAndCost) {
  Receipt receipt;
  receipt.id = "job-1";
  receipt.family = "f";
  receipt.accelerators = 4;
  receipt.started = std::chrono::seconds(100);
  receipt.wall = std::chrono::seconds(30);
  receipt.ending = Ending::kSignalled;
  receipt.code = SIGKILL;
  EXPECT_EQ(cost(receipt), AcceleratorSeconds{120});
  // It was given a CPU for each of its four slots and widened its set.
  receipt.cpus = {0, 1, 2, 3};
  receipt.cpu_user = std::chrono::seconds(150);
  receipt.cpu_system = std::chrono::seconds(10);
  EXPECT_EQ(cost(receipt), AcceleratorSeconds{120}) << "of GPUs CPUs say nothing";
  receipt.accelerator_kind = "cpu slot";
  EXPECT_EQ(cost(receipt), AcceleratorSeconds{160});
  receipt.cpu_user = std::chrono::seconds(100);
  EXPECT_EQ(cost(receipt), AcceleratorSeconds{120});
  const Usage usage = usage_of(receipt, "me", "/w");
  EXPECT_EQ(usage.job, "job-1");
  EXPECT_EQ(usage.user, "me");
  EXPECT_EQ(usage.end, Nanos(std::chrono::seconds(130)));
  EXPECT_TRUE(usage.failed);
  EXPECT_EQ(usage.ending, "killed by SIGKILL");
}

TEST(Names, BothWays) {
  for (int i = 0; i <= static_cast<int>(VerdictKind::kDropped); ++i) {
    const auto kind = static_cast<VerdictKind>(i);
    EXPECT_EQ(verdict_named(name(kind)), kind);
  }
  for (int i = 0; i <= static_cast<int>(Bottleneck::kUnknown); ++i) {
    const auto bottleneck = static_cast<Bottleneck>(i);
    EXPECT_EQ(bottleneck_named(name(bottleneck)), bottleneck);
    EXPECT_FALSE(describe(bottleneck).empty());
  }
  EXPECT_EQ(verdict_named("no effect"), VerdictKind::kNoEffect);
  EXPECT_EQ(verdict_named("great"), std::nullopt);
  EXPECT_EQ(bottleneck_named("great"), Bottleneck::kUnknown);
  EXPECT_EQ(purpose_named("top-up"), Purpose::kTopUp);
  EXPECT_EQ(answer_named("cannot tell yet"), Answer::kCannotTell);
  EXPECT_EQ(vote_named("refute"), Vote::kRefute);
}

TEST(Names, WhatMayBeTriedAgain) {
  EXPECT_TRUE(blocks_retry(VerdictKind::kRefuted));
  EXPECT_TRUE(blocks_retry(VerdictKind::kPromoted));
  EXPECT_TRUE(blocks_retry(VerdictKind::kNoEffect));
  EXPECT_FALSE(blocks_retry(VerdictKind::kInconclusive));
  EXPECT_FALSE(blocks_retry(VerdictKind::kInvalid));
  EXPECT_FALSE(blocks_retry(VerdictKind::kAborted));
}

}  // namespace
}  // namespace amdahl::model
