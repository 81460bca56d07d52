#include "scan/pick.h"

#include <string>

#include <gtest/gtest.h>

#include "scan/test_fleet.h"

namespace amdahl::scan {
namespace {

TEST(Pick, TakesTheFirstThatCanBeWorkedOn) {
  Fleet fleet;
  fleet.add({.id = "1", .name = "a", .hours = 8, .utilisation = 0});
  fleet.add({.id = "2", .name = "b", .hours = 4, .utilisation = 0});
  const Pick none = pick(fleet.report(), {.local_jobs = {"1"}});
  EXPECT_EQ(none.first->family, "a.u1.x1");
  EXPECT_FALSE(none.first->has_spec);
  EXPECT_EQ(none.first->job, "1");
  EXPECT_TRUE(
      none.why.ends_with("; it has no spec to experiment with: amdahl adopt 1 --family "
                         "a.u1.x1"))
      << none.why;
  EXPECT_TRUE(none.passed_over.empty());
  const Pick of_slurm = pick(fleet.report(), {.slurm_knows = true});
  EXPECT_TRUE(of_slurm.why.ends_with(": amdahl adopt slurm:1 --family a.u1.x1")) << of_slurm.why;
  EXPECT_EQ(adopted_as("7", {"7"}, true), "7");
  EXPECT_EQ(adopted_as("7_1", {}, true), "slurm:7_1");
  EXPECT_EQ(adopted_as("7_1", {}, false), "");
  EXPECT_EQ(adopted_as("7;id", {}, true), "");
  Memories memory;
  memory.families["b.u1.x1"] = {};
  const Pick some = pick(fleet.report({.rows = 1}, memory), {.specs = {{"b.u1.x1", ""}}});
  EXPECT_EQ(some.first->family, "b.u1.x1");
  EXPECT_TRUE(some.first->has_spec);
  EXPECT_EQ(
      some.why,
      "1.73 accelerator-hours recoverable: 4.00 of 4.00 accelerator-hours (100 %) wasted in 1 job; "
      "lever: end sessions that do nothing, at most 100 % of it; no such lever was tried yet: "
      "chance 43 % (18 % to 62 %), published: 600 of 706 such causes were fixed by a few lines "
      "(ICSE "
      "2024); fixes reached 22 to 71 % of their ceiling (kineto samples); a.u1.x1 has 3.47 "
      "accelerator-hours recoverable, but no spec to experiment "
      "with: amdahl adopt "
      "--spec FILE");
  EXPECT_FALSE(pick(Fleet().report(), {}).first);
}

TEST(Pick, PassesOverWhatIsAtRestAndSaysTheOrderOfTheOthers) {
  Fleet fleet;
  const char* names[] = {"a", "b", "c", "d"};
  for (int i = 0; i < 4; ++i) {
    fleet.add({.id = names[i], .name = names[i], .hours = 8 - i, .utilisation = 0});
  }
  const Report by_name = fleet.report({.order = Order::kQueue});
  const Standing standing{.specs = {{"a.u1.x1", "all is tried"}, {"b.u1.x1", ""}, {"d.u1.x1", ""}}};
  const Pick picked = pick(by_name, standing);
  EXPECT_EQ(picked.first->family, "b.u1.x1");
  ASSERT_EQ(picked.next.size(), 1U) << "c has no spec";
  EXPECT_EQ(picked.next[0].family, "d.u1.x1");
  ASSERT_EQ(picked.passed_over.size(), 1U);
  EXPECT_EQ(picked.passed_over[0].why, "all is tried");
  const Pick adopt =
      pick(by_name, {.specs = {{"a.u1.x1", "all is tried"}, {"b.u1.x1", "so is this"}}});
  EXPECT_EQ(adopt.first->family, "c.u1.x1");
  EXPECT_FALSE(adopt.first->has_spec);
  EXPECT_EQ(adopt.passed_over.size(), 2U);
  EXPECT_TRUE(adopt.why.ends_with(
      "; a.u1.x1 has 3.47 accelerator-hours recoverable, but all is tried, and 1 more "
      "is passed over"))
      << adopt.why;
  Standing rest;
  for (const char* name : names) rest.specs[std::string(name) + ".u1.x1"] = "all is tried";
  const Pick nothing = pick(by_name, rest, 2);
  EXPECT_FALSE(nothing.first);
  EXPECT_EQ(nothing.passed_over.size(), 2U);
  EXPECT_EQ(nothing.passed, 4U);
  EXPECT_TRUE(nothing.why.starts_with("no family with recoverable time can be worked on"))
      << nothing.why;
}

}  // namespace
}  // namespace amdahl::scan
