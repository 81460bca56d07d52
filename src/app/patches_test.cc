#include "app/patches.h"

#include <gtest/gtest.h>

namespace amdahl::app {
namespace {

ledger::Family family(const std::string& repo) {
  ledger::Family made;
  made.name = made.spec.family = "eval";
  made.spec.command = {"run"};
  made.spec.repo = repo;
  return made;
}

profile::Finding finding(const std::string& file, double share, bool measured) {
  profile::Finding made;
  made.code.file = "/repo/" + file;
  made.code.line = 7;
  made.code.rule = "garbage";
  made.code.finds = "the garbage collector runs in every step";
  made.code.suggestion = "leave it to itself";
  made.code.patch = "--- a/" + file + "\n+++ b/" + file + "\n@@ -7 +7 @@\n-a\n+b\n";
  made.share = share;
  made.measured = measured;
  made.cause = "hook.gc_share";
  made.because = "its line took 5 s of 10 s";
  return made;
}

TEST(Patches, AMeasuredLineIsAClaimOnMostOfItsTime) {
  const profile::Finding found = finding("jobs/x.py", 0.5, true);
  const PatchIdeas ideas = ideas_from(family("/repo"), {}, {&found, 1}, "cpu", 0.01);
  ASSERT_EQ(ideas.ideas.size(), 1U);
  const model::Hypothesis& idea = ideas.ideas[0];
  EXPECT_EQ(idea.title, "patch jobs/x.py:7: garbage");
  EXPECT_EQ(idea.origin, (model::Origin{"code", "garbage jobs/x.py:7"}));
  EXPECT_EQ(idea.change.patch, found.code.patch);
  EXPECT_EQ(idea.bottleneck, model::Bottleneck::kSerial);
  EXPECT_DOUBLE_EQ(idea.predicted_gain, 0.4);
  EXPECT_DOUBLE_EQ(idea.ceiling_share, 0.55);
  EXPECT_EQ(idea.mechanism,
            "the garbage collector runs in every step: its line took 5 s of 10 s. To try: leave it "
            "to itself.");
  EXPECT_EQ(ideas.untestable, "");
}

TEST(Patches, OnABusyHostALineMayReachFurtherThanItSeems) {
  const profile::Finding found = finding("x.py", 0.5, true);
  model::Profile profile;
  profile.evidence["cpu_wait_share"] = 0.3;
  profile.evidence["foreign_cpu_cores"] = 2;
  PatchIdeas ideas = ideas_from(family("/repo"), profile, {&found, 1}, "cpu", 0.01);
  ASSERT_EQ(ideas.ideas.size(), 1U);
  EXPECT_DOUBLE_EQ(ideas.ideas[0].ceiling_share, 0.8);
  EXPECT_DOUBLE_EQ(ideas.ideas[0].predicted_gain, 0.4);
  profile.evidence["cpu_wait_share"] = 0.9;
  ideas = ideas_from(family("/repo"), profile, {&found, 1}, "cpu", 0.01);
  ASSERT_EQ(ideas.ideas.size(), 1U);
  EXPECT_DOUBLE_EQ(ideas.ideas[0].ceiling_share, 0.99);
}

TEST(Patches, WhatAFixTouchesBesidesIsNoCheat) {
  profile::Finding found = finding("x.py", 0.2, false);
  found.ceiling = 4;
  const PatchIdeas ideas = ideas_from(family("/repo"), {}, {&found, 1}, "cpu", 0.01);
  ASSERT_EQ(ideas.ideas.size(), 1U);
  EXPECT_DOUBLE_EQ(ideas.ideas[0].ceiling_share, 0.75);
  EXPECT_DOUBLE_EQ(ideas.ideas[0].predicted_gain, 0.1);
}

TEST(Patches, ASharedCauseIsAClaimOnAPartOfItAndLittleIsNone) {
  std::vector<profile::Finding> found = {finding("x.py", 0.4, false), finding("y.py", 0.01, true)};
  found[0].sharing = 1;
  found.push_back(finding("z.py", 0.5, true));
  found[2].code.patch = "";  // It takes a person.
  const PatchIdeas ideas = ideas_from(family("/repo"), {}, found, "cpu", 0.01);
  ASSERT_EQ(ideas.ideas.size(), 1U);
  EXPECT_DOUBLE_EQ(ideas.ideas[0].predicted_gain, 0.1);
}

TEST(Patches, WhatCannotBeTestedIsSaid) {
  const std::vector<profile::Finding> found = {finding("x.py", 0.4, true),
                                               finding("y.cc", 0.4, true)};
  const PatchIdeas nowhere = ideas_from(family(""), {}, found, "cpu", 0.01);
  EXPECT_TRUE(nowhere.ideas.empty());
  EXPECT_EQ(nowhere.untestable, "2 patches cannot be tested: add repo = ... to the spec of eval");
  const PatchIdeas unbuilt = ideas_from(family("/repo"), {}, found, "cpu", 0.01);
  EXPECT_EQ(unbuilt.ideas.size(), 1U);
  EXPECT_EQ(unbuilt.untestable, "1 patch cannot be tested: add build = ... to the spec of eval");
}

}  // namespace
}  // namespace amdahl::app
