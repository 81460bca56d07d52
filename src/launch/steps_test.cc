#include "launch/steps.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "launch/local/testing.h"
#include "model/codec.h"
#include "stats/coin.h"
#include "stats/eprocess.h"
#include "stats/estimate.h"

namespace amdahl::launch {
namespace {

using namespace std::chrono_literals;

std::string same(std::string text) { return text; }

model::Receipt receipt_with(model::StepReports steps) {
  model::Receipt receipt;
  receipt.id = "r-1/A";
  receipt.family = "f";
  receipt.arm = "steps";
  receipt.accelerators = 2;
  receipt.ending = model::Ending::kExited;
  receipt.wall = 20s;
  receipt.cpu_user = 10s;
  receipt.phases = {{"load", 0s, 5s}};
  receipt.steps = std::move(steps);
  model::seal(receipt);
  return receipt;
}

TEST(ScheduleTest, IsTheCoinOfEachPair) {
  const std::string schedule = step_schedule("seed", "h-1", 7, 20);
  ASSERT_EQ(schedule.size(), 42U) << "one pair of warm-up before them";
  for (int pair = 0; pair < 21; ++pair) {
    const std::string want = stats::coin("seed", "h-1|7", pair) ? "AB" : "BA";
    EXPECT_EQ(schedule.substr(2 * static_cast<std::size_t>(pair), 2), want) << pair;
  }
  EXPECT_NE(schedule, step_schedule("seed", "h-1", 8, 20));
  EXPECT_NE(schedule, step_schedule("other", "h-1", 7, 20));
}

TEST(SettingsTest, AreWhatDiffers) {
  model::Spec spec;
  spec.family = "f";
  spec.command = {"job", "--batch", "8", "-v", "in.txt"};
  model::Knob& batch = spec.knobs["batch_size"];
  batch.name = "batch_size";
  batch.arg = "--batch";
  batch.aliases = {"-b"};
  batch.value = "8";
  spec.knobs["decoded_cache"].arg = "--cache";
  spec.knobs["threads"].env = "OMP_NUM_THREADS";
  spec.knobs["fsync"].env = "LOUD";
  spec.knobs["log_every"].config = "job.json#log";
  spec.env = {{"OMP_NUM_THREADS", "2"}};
  model::Change change;
  change.args = {{"-b", "32"}, {"--cache", "{state}/x"}};
  change.env = {{"OMP_NUM_THREADS", std::nullopt}, {"LOUD", "1"}};
  change.config = {{"job.json#log", "5"}};
  const model::Plan a = *model::make_plan(spec, {});
  const model::Plan b = *model::make_plan(spec, change);
  const auto fill = [](std::string text) {
    if (text.starts_with("{state}")) text.replace(0, 7, "/tmp/\"s\"");
    return text;
  };
  EXPECT_EQ(
      dump_json(*step_settings(spec, a, b, fill)),
      R"({"A":{"args":{"--batch":"8","--cache":null},"config":{"job.json#log":null},)"
      R"("env":{"LOUD":null,"OMP_NUM_THREADS":"2"}},)"
      R"("B":{"args":{"--batch":"32","--cache":"/tmp/\"s\"/x"},"config":{"job.json#log":"5"},)"
      R"("env":{"LOUD":"1","OMP_NUM_THREADS":null}}})");
  EXPECT_EQ(dump_json(*step_settings(spec, a, a, same)), R"({"A":{},"B":{}})");

  // A variable that the job does not know of would seem to do nothing.
  for (const char* knob : {"decoded_cache", "fsync", "log_every"}) {
    model::Spec fewer = spec;
    const model::Knob gone = fewer.knobs[knob];
    fewer.knobs.erase(knob);
    EXPECT_EQ(step_settings(fewer, a, b, same).error().text,
              gone.arg + gone.env + gone.config +
                  " is not a knob of the spec, so the job cannot switch it between steps");
  }
}

TEST(SettingsTest, WhatAProcessCannotChangeIsAnError) {
  model::Spec spec;
  spec.family = "f";
  spec.command = {"job", "--fast", "in.txt"};
  const model::Plan a = *model::make_plan(spec, {});
  const auto error = [&](const std::function<void(model::Plan&)>& change) {
    model::Plan b = a;
    change(b);
    const auto made = step_settings(spec, a, b, same);
    return made ? "none" : made.error().text;
  };
  const auto fixed = [](const char* what) {
    return fmt::format(
        "the arms differ in their {}, which a running process cannot switch; set pairing = "
        "\"same-allocation\" in the spec",
        what);
  };
  EXPECT_EQ(error([](auto& b) { b.accelerators = 2; }), fixed("accelerators"));
  EXPECT_EQ(error([](auto& b) { b.cpus = 2; }), fixed("CPU slots"));
  EXPECT_EQ(error([](auto& b) { b.patch = "--- a"; }), fixed("patches"));
  EXPECT_EQ(error([](auto& b) { b.workdir = "/"; }), fixed("folders"));
  const std::string more =
      "the arms' commands differ in more than flags, which a running process cannot switch; set "
      "pairing = \"same-allocation\" in the spec";
  EXPECT_EQ(error([](auto& b) { b.argv.insert(b.argv.begin(), "numactl"); }), more);
  EXPECT_EQ(error([](auto& b) { b.argv.push_back("other.txt"); }), more);
  EXPECT_EQ(error([](auto& b) { b.argv.erase(b.argv.begin() + 1); }),
            "cannot remove --fast: \"in.txt\" may or may not be its value; add a knob for the flag "
            "with its value to the spec");
}

TEST(StepPairsTest, AreNeighboursWithoutTheWarmUp) {
  const model::Receipt whole =
      receipt_with({"ABBAABA", {9, 9, 3, 4, 5, 6, 7}, {1, 1, 1, 2, 1, 1, 1}});
  EXPECT_EQ(*step_pairs(whole, "ABBAABAB"),
            (std::vector<model::StepPair>{{false, 4, 6}, {true, 10, 12}}))
      << "times two accelerators; the last step has no partner";
  const model::Receipt a = step_share(whole, "ABBAABAB", 'A');
  EXPECT_EQ(a.id, "r-1/A");
  EXPECT_EQ(a.arm, "A");
  EXPECT_EQ(a.wall, 9s);
  EXPECT_EQ(a.work, 3);
  EXPECT_TRUE(model::check_seal(a));
  const model::Receipt b = step_share(whole, "ABBAABAB", 'B');
  EXPECT_EQ(b.id, "r-1/B");
  EXPECT_EQ(b.wall, 9s);
  EXPECT_EQ(b.work, 2);
  EXPECT_EQ(b.steps, model::StepReports{});
  EXPECT_TRUE(b.phases.empty()) << "they are laid out along another time";
  EXPECT_NEAR(to_seconds(b.cpu_user), 10.0 * 9 / 43, 1e-6);
}

TEST(StepPairsTest, AJobThatDoesOtherwiseIsVoidWithAReason) {
  const auto reason = [](const model::Receipt& whole) {
    const auto pairs = step_pairs(whole, "ABBAAB");
    return pairs ? "none" : pairs.error().text;
  };
  const auto steps = [](const std::string& arms) {
    return receipt_with(
        {arms, std::vector<double>(arms.size(), 1.0), std::vector<double>(arms.size(), 1.0)});
  };
  EXPECT_EQ(reason(steps("ABBAAB")), "none");
  EXPECT_EQ(reason(steps("ABAB")), "step 2 ran arm A, but the schedule has B");
  EXPECT_EQ(reason(steps("ABBAABA")), "the job reported 7 steps, but the schedule has 6");
  EXPECT_EQ(reason(steps("ABB")), "the job ended after 3 steps; the first 2 are warm-up");
  EXPECT_EQ(reason(steps("")),
            "the job reported no steps: it must run the steps that AMDAHL_STEPS lists "
            "(docs/format/report.md)");
  model::Receipt unclear = steps("ABBA");
  unclear.report_problems = {"line 5: not JSON"};
  EXPECT_EQ(reason(unclear), "only 4 of 6 steps could be read: line 5: not JSON");
  EXPECT_EQ(reason(receipt_with({"AB", {1}, {1, 1}})),
            "the receipt has steps without a time or without work");
  EXPECT_EQ(step_pairs(steps("AB"), "AABB").error().text, "\"AABB\" is not a step schedule");
}

TEST(StepPairsTest, AFailureIsThatOfTheArmUnderWay) {
  model::Receipt whole = receipt_with({"ABB", {1, 1, 1}, {1, 1, 1}});
  whole.code = 9;
  whole.reason = "exit 9";
  EXPECT_FALSE(model::succeeded(step_share(whole, "ABBAAB", 'A')));
  EXPECT_TRUE(model::succeeded(step_share(whole, "ABBAAB", 'B')));
  whole.steps = {"AB", {1, 1}, {1, 1}};
  EXPECT_TRUE(model::succeeded(step_share(whole, "ABBAAB", 'A')));
  EXPECT_FALSE(model::succeeded(step_share(whole, "ABBAAB", 'B')));
  whole.steps = {};
  EXPECT_TRUE(model::succeeded(step_share(whole, "BAAB", 'B'))) << "it started as A";
}

class StepJob : public local::LocalTest {
 protected:
  // Arm B does 3 % less.
  PairRequest job(std::vector<std::string> more, int pairs) const {
    PairRequest made;
    made.reservation = "r-1";
    made.spec.family = "steps";
    made.spec.command = {TEST_STEPS, "--rounds", "3000000"};
    made.spec.command.insert(made.spec.command.end(), more.begin(), more.end());
    made.spec.workdir = folder_;
    made.spec.time_limit = 60s;
    made.spec.knobs["batch_size"].arg = "--rounds";
    made.a = *model::make_plan(made.spec, {});
    model::Change change;
    change.args = {{"--rounds", "2910000"}};
    made.b = *model::make_plan(made.spec, change);
    made.steps = true;
    made.schedule = step_schedule("seed", "h-1", 1, pairs);
    return made;
  }
  Receipts run(const PairRequest& made) {
    EXPECT_TRUE(hand_over(*launcher_, made));
    EXPECT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
    return *launcher_->collect({"r-1"});
  }
};

TEST_F(StepJob, ThreePercentAreFoundInOneRun) {
  const PairRequest made = job({}, 120);
  const Receipts receipts = run(made);
  ASSERT_EQ(receipts.problem, "");
  EXPECT_EQ(receipts.whole->steps.arms, made.schedule) << "executed as the coin says";
  EXPECT_EQ(receipts.whole->arm, "steps");
  EXPECT_EQ(receipts.whole->plan_digest, model::digest(made.a));
  EXPECT_EQ(receipts.whole->work, 2420);
  ASSERT_EQ(receipts.steps.size(), 120U);
  EXPECT_EQ(receipts.a->work, 1200);
  EXPECT_EQ(receipts.b->work, 1200);
  EXPECT_EQ(receipts.out_b, receipts.out_a);
  std::vector<double> d;
  for (std::size_t i = 0; i < receipts.steps.size(); ++i) {
    EXPECT_EQ(receipts.steps[i].variant_second,
              stats::coin("seed", "h-1|1", static_cast<int>(i) + 1));
    d.push_back(std::log(receipts.steps[i].a / receipts.steps[i].b));
  }
  EXPECT_GT(stats::log_e(d, {.sigma = 0.02}), std::log(20.0));
  EXPECT_NEAR(stats::hodges_lehmann(d), -std::log(0.97), 0.015);
}

TEST_F(StepJob, AJobMayEndBeforeItsSchedule) {
  const Receipts receipts = run(job({"--stop", "7"}, 20));
  EXPECT_EQ(receipts.problem, "");
  EXPECT_EQ(receipts.steps.size(), 2U);
}

TEST_F(StepJob, AJobThatSaysAnotherArmIsVoid) {
  const PairRequest made = job({"--stray", "5"}, 20);
  const Receipts receipts = run(made);
  EXPECT_EQ(receipts.problem, fmt::format("step 5 ran arm {}, but the schedule has {}",
                                          made.schedule[5] == 'A' ? 'B' : 'A', made.schedule[5]));
  EXPECT_FALSE(receipts.a || receipts.b);
  EXPECT_TRUE(receipts.whole) << "it was paid for";
}

TEST_F(StepJob, AJobThatFailsInAStepOfOneArmIsThatArmsFailure) {
  const PairRequest made = job({"--crash", "6"}, 20);
  const Receipts receipts = run(made);
  const bool in_b = made.schedule[6] == 'B';
  EXPECT_EQ(model::succeeded(*receipts.a), in_b);
  EXPECT_EQ(model::succeeded(*receipts.b), !in_b);
  EXPECT_EQ((in_b ? receipts.b : receipts.a)->reason, "exit 9");
  EXPECT_TRUE(receipts.steps.empty());
}

TEST_F(StepJob, AJobThatKnowsNoStepsIsToldHow) {
  PairRequest made = job({}, 20);
  made.a.argv = made.b.argv = {"true"};
  EXPECT_EQ(run(made).problem,
            "the job reported no steps: it must run the steps that AMDAHL_STEPS lists "
            "(docs/format/report.md)");
}

}  // namespace
}  // namespace amdahl::launch
