#include "profile/causes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profile/cause_kinds.h"
#include "profile/ceiling.h"
#include "profile/classify.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;

// A step thread that slept nine tenths of the time, as the BPF collector tells it.
CauseInputs sleeper() {
  CauseInputs inputs;
  model::Cause slept;
  set_kind(slept, causes::kSleeping);
  slept.bottleneck = Bottleneck::kSerial;
  slept.share = 0.9;
  slept.because = "the step thread slept 9 s of 10 s";
  inputs.seen.push_back(slept);
  inputs.accelerator_kind = "cpu slot";
  inputs.allocated = 10;
  return inputs;
}

TEST(Causes, SleepThatNothingElseHoldsIsToldWhole) {
  const auto causes = causes_of(sleeper());
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].bottleneck, Bottleneck::kSerial);
  EXPECT_EQ(causes[0].because,
            "the step thread slept 9 s of 10 s: 9.00 of 10.0 accelerator-seconds");
}

// 3 s of sleep in a run of 15 s, 5 s of which others took: 3 of 10 s where nobody does.
TEST(Causes, WhatOthersTookMeanwhileLowersNoCeiling) {
  CauseInputs inputs = sleeper();
  inputs.seen[0].share = 0.2;
  EXPECT_NEAR(causes_of(inputs)[0].ceiling, 1 / 0.8, 1e-9);
  inputs.all = {{"cpu_wait_share", 1.0 / 3}, {"foreign_cpu_cores", 2}, {"busy_cores", 0.5}};
  const auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].id, "contention.host");
  EXPECT_NEAR(causes[0].ceiling, 1.5, 1e-9) << "as it was";
  EXPECT_NEAR(causes[1].share, 0.2, 1e-9) << "of the run as it was";
  EXPECT_NEAR(causes[1].ceiling, 10.0 / 7, 1e-9);
}

// The hook sees operators in a window of the steps alone, a job's phases are all of its time.
TEST(Causes, WhatAWindowShowedMayBeMore) {
  CauseInputs inputs;
  inputs.allocated = 10;
  inputs.all["serial_share"] = 0.15;
  auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_NEAR(causes[0].share, 0.15, 1e-9);
  EXPECT_NEAR(causes[0].ceiling, 1 / (1 - 0.15 - kUnseen), 1e-9);
  inputs.reported["serial_share"] = 0.15;
  causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_NEAR(causes[0].ceiling, 1 / 0.85, 1e-9);
}

TEST(Causes, StepsThatMostlySleepOutsideOfOperatorsAreCalledSo) {
  CauseInputs inputs = sleeper();
  inputs.all["serial_share"] = 0.8;
  auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].id, "serial.sleep");
  EXPECT_NEAR(causes[0].share, 0.9, 1e-9);
  EXPECT_EQ(causes[0].because,
            "the step thread slept 9 s of 10 s: 9.00 of 10.0 accelerator-seconds; serial_share 80 "
            "% from the hook: 8.00 of 10.0 accelerator-seconds");

  inputs.seen[0].share = 0.2;
  causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].id, "serial.host");
  EXPECT_NEAR(causes[0].share, 0.8, 1e-9);
}

// A start of 3 s, 2.5 s of it imports of installed packages, and 1 s of logging in 10 s.
TEST(Causes, WhatARunNeedsIsNoCause) {
  CauseInputs inputs;
  inputs.allocated = 10;
  inputs.accelerator_kind = "cpu slot";
  inputs.all = {{"startup_share", 0.3},
                {"import_share", 0.26},
                {"logging_share", 0.1},
                {"needed_import_share", 0.25}};
  auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].id, "sync.logging");
  EXPECT_NEAR(expected_gain(causes[0]), 1 / 0.9, 1e-9);
  EXPECT_EQ(causes[1].id, "lifecycle.startup");
  EXPECT_NEAR(causes[1].share, 0.05, 1e-9);
  EXPECT_EQ(
      causes[1].because,
      "startup_share 5.0 % without needed imports from the hook: 0.5 of 10.0 accelerator-seconds");

  inputs.all["needed_import_share"] = 0.295;
  inputs.all["checkpoint_share"] = 0.2;
  inputs.all["waste_in_compute_share"] = 0.6;
  causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 2u) << "nothing is unexplained";
  EXPECT_EQ(causes[0].id, "lifecycle.checkpoint");
  EXPECT_NEAR(causes[0].share, 0.2, 1e-9);
}

TEST(Causes, WhatItsOwnModulesDoAtImportIsACause) {
  CauseInputs inputs;
  inputs.allocated = 10;
  inputs.all = {{"startup_share", 0.6}, {"import_share", 0.55}, {"needed_import_share", 0.25}};
  const auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].id, "lifecycle.imports");
  EXPECT_NEAR(causes[0].share, 0.35, 1e-9);
  EXPECT_NEAR(expected_gain(causes[0]), 1 / 0.65, 1e-9);
  EXPECT_NEAR(causes[0].ceiling, 1 / 0.4, 1e-9) << "of a run with fewer starts";
  EXPECT_EQ(causes[0].because,
            "startup_share 35 % without needed imports, most of it import_share 30 % from the "
            "hook: 3.50 of 10.0 accelerator-seconds");
}

// Phases stand side by side: what is not in the one is in the other.
TEST(Causes, NeededImportsAreLeftOutOfPhasesToo) {
  CauseInputs inputs;
  inputs.allocated = 10;
  inputs.reported = {{"startup_share", 0.3}, {"import_share", 0.2}};
  inputs.all = inputs.reported;
  inputs.all["needed_import_share"] = 0.25;
  const auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].id, "lifecycle.startup");
  EXPECT_NEAR(causes[0].share, 0.25, 1e-9);
}

TEST(Causes, NeedlessImportsAreNotNeeded) {
  const auto needed = [](double needless) {
    return plain_shares({{"hook.wall_s", 10},
                         {"hook.import_share", 0.5},
                         {"hook.installed_import_share", 0.4},
                         {"needless_import_share", needless}},
                        10)
        .at("needed_import_share");
  };
  EXPECT_NEAR(needed(0), 0.4, 1e-9);
  EXPECT_NEAR(needed(0.1), 0.4, 1e-9) << "it may have been its own modules";
  EXPECT_NEAR(needed(0.3), 0.2, 1e-9);
  EXPECT_NEAR(needed(0.9), 0, 1e-9);
}

// Files that are written are outside of operators, too. Of 8 s of steps a quarter was in operators,
// a half in Python, and the rest in files: logs that are forced to the disk, or checkpoints.
TEST(Causes, WhatWrittenFilesTookIsNotSerialAsWell) {
  const auto plain = [](std::string_view written) {
    const auto facts = read_hook(fmt::format(
        R"({{"wall_s": 10, "startup_s": 2, "steps": 9, {},
             "window": {{"steps": 4, "wall_s": 4, "written_s": 1,
                         "ops": [{{"name": "aten::mm", "calls": 9, "self_cpu_s": 1}}]}}}})",
        written));
    EXPECT_TRUE(facts) << facts.error().text;
    return plain_shares(facts->evidence, 10);
  };
  const auto logs = plain(R"("fsync_s": 2, "fsync_calls": 100)");
  EXPECT_NEAR(logs.at("logging_share"), 0.2, 1e-9);
  EXPECT_NEAR(logs.at("serial_share"), 0.4, 1e-9);
  const auto saves = plain(R"("fsync_s": 2, "fsync_calls": 4, "save_s": 0, "save_calls": 4)");
  EXPECT_NEAR(saves.at("checkpoint_share"), 0.2, 1e-9);
  EXPECT_NEAR(saves.at("serial_share"), 0.4, 1e-9);
}

TEST(Causes, ALoaderThatSleepsIsAWaitForInputAndToldOnce) {
  CauseInputs inputs = sleeper();
  inputs.all["input_wait_share"] = 0.8;
  const auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].bottleneck, Bottleneck::kInput);
  EXPECT_EQ(causes[1].bottleneck, Bottleneck::kSerial);
  EXPECT_NEAR(causes[1].share, 0.1, 1e-9);

  inputs.all["input_wait_share"] = 0.895;
  EXPECT_EQ(causes_of(inputs).size(), 1u) << "what is left is not worth a line";
}

// Looks at /proc see a read, not what is read: modules are read at the start.
TEST(Causes, ReadsThatTheStartMayHoldAreNoInputWhereOnlyLooksTell) {
  CauseInputs inputs;
  model::Cause read;
  set_kind(read, causes::kInputWait);
  read.bottleneck = Bottleneck::kInput;
  read.share = 0.25;
  inputs.seen.push_back(read);
  inputs.allocated = 10;
  inputs.all = {{"startup_share", 0.2}, {"waits.sampled", 1}};
  auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].id, "lifecycle.startup");
  EXPECT_NEAR(causes[1].share, 0.05, 1e-9);

  inputs.all["waits.sampled"] = 0;
  EXPECT_NEAR(causes_of(inputs)[0].share, 0.25, 1e-9) << "who saw the stacks knows";
}

// The kernel sees the wait of an fsync that the hook has counted with the checkpoints.
TEST(Causes, FilesThatCheckpointsWaitForAreToldOnce) {
  CauseInputs inputs;
  model::Cause files;
  set_kind(files, causes::kWrittenFiles);
  files.bottleneck = Bottleneck::kSync;
  files.share = 0.1;
  inputs.seen.push_back(files);
  inputs.allocated = 10;
  inputs.all = {{"checkpoint_share", 0.12}};
  ASSERT_EQ(causes_of(inputs).size(), 1u);
  EXPECT_EQ(causes_of(inputs)[0].id, "lifecycle.checkpoint");
  inputs.all["checkpoint_share"] = 0.04;
  ASSERT_EQ(causes_of(inputs).size(), 2u);
  EXPECT_NEAR(causes_of(inputs)[0].share, 0.06, 1e-9);
}

// The start is named after what it mostly is.
TEST(Causes, AStartThatIsMostlyImportsIsCalledThat) {
  CauseInputs inputs;
  inputs.allocated = 10;
  inputs.all = {{"startup_share", 0.5}, {"import_share", 0.4}};
  ASSERT_EQ(causes_of(inputs).size(), 1u);
  EXPECT_EQ(causes_of(inputs)[0].id, "lifecycle.imports");
  EXPECT_NEAR(causes_of(inputs)[0].share, 0.5, 1e-9);
  EXPECT_EQ(causes_of(inputs)[0].because,
            "startup_share 50 %, most of it import_share 40 % from the hook: 5.00 of 10.0 "
            "accelerator-seconds");

  inputs.all["import_share"] = 0.1;
  EXPECT_EQ(causes_of(inputs)[0].id, "lifecycle.startup");
}

// One thread on two slots, which began with a second one: nothing waits.
TEST(Causes, SlotsThatNobodyAskedForAreNoWaitWhereTheyWereNeverUsedTogether) {
  CauseInputs inputs;
  inputs.accelerator_kind = "cpu slot";
  inputs.allocated = 3.2;
  inputs.asked = false;
  inputs.all = {{"accelerators", 2},
                {"busy_accelerators", 1.04},
                {"busy_accelerators_p95", 1.26},
                {"waste_in_compute_share", 0.48},
                {"busy_cores", 1.04}};
  EXPECT_TRUE(causes_of(inputs).empty());
  EXPECT_NEAR(left_alone(inputs), 0.48, 1e-9);

  inputs.all["busy_accelerators_p95"] = 2;
  ASSERT_EQ(causes_of(inputs).size(), 1u) << "it can use both, and mostly does not";
  EXPECT_EQ(causes_of(inputs)[0].bottleneck, Bottleneck::kUnknown);

  inputs.asked = true;
  inputs.all["busy_accelerators_p95"] = 1.26;
  EXPECT_EQ(causes_of(inputs).size(), 1u) << "who asks for two is to use them";
}

}  // namespace
}  // namespace amdahl::profile
