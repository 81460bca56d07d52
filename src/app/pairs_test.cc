#include "app/pairs.h"

#include <limits>
#include <span>

#include "app/reconcile.h"
#include "app/test_kit.h"
#include "launch/steps.h"
#include "model/plan.h"

namespace amdahl::app {
namespace {

// Runs a pair while it is submitted, so that there is no waiting.
class HereLauncher : public launch::Launcher {
 public:
  explicit HereLauncher(std::string state_dir)
      : state_dir_{std::move(state_dir)}, local_{launch::kinds().front().make({state_dir_})} {}

  std::vector<launch::SubmitAnswer> submit(std::span<const launch::PairRequest> requests) override {
    std::vector<launch::SubmitAnswer> answers;
    for (const launch::PairRequest& request : requests) {
      EXPECT_TRUE(launch::run_here(state_dir_, request));
      answers.push_back({launch::Handover::kAccepted, "here:" + request.reservation});
    }
    return answers;
  }
  Result<> release(std::span<const launch::RunRef>) override { return Ok{}; }
  std::vector<launch::RunStatus> status(std::span<const launch::RunRef> runs) override {
    return local_->status(runs);
  }
  Result<launch::Capacity> capacity(const launch::PairRequest& like) override {
    return local_->capacity(like);
  }
  Result<launch::Receipts> collect(const launch::RunRef& run) override {
    return local_->collect(run);
  }
  Result<> cancel(const launch::RunRef& run) override { return local_->cancel(run); }
  Result<> kill(const launch::RunRef& run) override { return local_->kill(run); }

 private:
  std::string state_dir_;
  std::unique_ptr<launch::Launcher> local_;
};

// Reports each step of the schedule: one second in arm A, half of one in arm B.
constexpr const char* kStepJob = R"(
i=0
for arm in $(sed 's/./& /g' "$AMDAHL_STEPS"); do
  case $arm in A) s=1 ;; B) s=0.5 ;; esac
  echo "{\"step\": $i, \"arm\": \"$arm\", \"seconds\": $s}"
  i=$((i + 1))
done >> "$AMDAHL_REPORT"
)";

class PairsTest : public ContextTest {
 protected:
  PairsTest() {
    context_.launcher = std::make_unique<HereLauncher>(context_.config.state_dir);
    spec_.family = "steps";
    spec_.command = {"sh", "-c", kStepJob};
    spec_.workdir = folder_.string();
    spec_.pairing = "steps";
    EXPECT_EQ(say({{"family.adopted", "ada", spec_.family, encode(spec_)}}), "");
  }
  model::Spec spec_;
};

TEST_F(PairsTest, StepsBecomePairsOfTheirOwnAndTheWholeProcessIsPaidFor) {
  const ledger::Family family = *context_.ledger->family("steps");
  model::Pair order;
  order.family = "steps";
  order.aim.purpose = model::Purpose::kSame;
  order.index = 3;
  order.steps = true;
  const auto reservation = submit_pair(context_, family, order, {}, 0);
  ASSERT_TRUE(reservation) << reservation.error().text;
  const model::Pair run = context_.ledger->runs_in_flight()->front();
  const std::string schedule = launch::step_schedule("same", "steps", 3, launch::kStepPairs);
  EXPECT_EQ(run.schedule, schedule);

  const launch::Receipts receipts = *context_.launcher->collect(ref_of(run));
  ASSERT_EQ(receipts.problem, "");
  const model::PairFact fact = fact_of(run, spec_, receipts);
  EXPECT_FALSE(fact.voided) << fact.void_reason;
  ASSERT_EQ(fact.steps.size(), static_cast<std::size_t>(launch::kStepPairs));
  EXPECT_EQ(fact.steps.front(), (model::StepPair{schedule[2] == 'A', 1, 0.5}));
  EXPECT_EQ(fact.ran_variant_second, fact.variant_second) << "kept by each step, so by the pair";
  EXPECT_DOUBLE_EQ(fact.a.cost, launch::kStepPairs);
  EXPECT_DOUBLE_EQ(fact.b.cost, launch::kStepPairs / 2.0);

  Submitted submitted;
  const auto ended = reconcile(context_, submitted, 0, [](const std::string&) {});
  ASSERT_TRUE(ended) << ended.error().text;
  EXPECT_EQ(*ended, 1);
  for (const ledger::Budget& budget : *context_.ledger->budgets()) {
    if (budget.resource != "accelerator_s") continue;
    EXPECT_NEAR(budget.spent, cost(*receipts.whole).count(), 1e-6);
  }
}

TEST_F(PairsTest, WhatTheJobCannotSwitchIsTestedByWholeRuns) {
  const ledger::Family family = *context_.ledger->family("steps");
  model::Pair order;
  order.family = "steps";
  order.aim.purpose = model::Purpose::kSame;
  order.index = 1;
  order.steps = true;
  order.b.env = {{"OMP_WAIT_POLICY", "passive"}};
  ASSERT_TRUE(submit_pair(context_, family, order, {}, 0));
  const model::Pair run = context_.ledger->runs_in_flight()->front();
  EXPECT_FALSE(run.steps);
  const launch::Receipts receipts = *context_.launcher->collect(ref_of(run));
  EXPECT_EQ(receipts.a->arm, "A");
  EXPECT_EQ(receipts.b->arm, "B");
}

TEST_F(PairsTest, ArmsAtOnceWereOrderedByTheirSlots) {
  model::Pair run;
  run.reservation = "r-1";
  run.concurrent = true;
  run.cpus = {3, 1};
  run.variant_second = true;
  launch::Receipts receipts;
  receipts.a.emplace();
  receipts.b.emplace();
  receipts.a->cpus = {3};
  receipts.b->cpus = {1};
  EXPECT_EQ(fact_of(run, spec_, receipts).ran_variant_second, true);
  receipts.a->cpus.swap(receipts.b->cpus);
  EXPECT_EQ(fact_of(run, spec_, receipts).ran_variant_second, false) << "not as it was assigned";
}

// Two arms that went well, one after the other.
class FactTest : public testing::Test {
 protected:
  FactTest() {
    spec_.family = "f";
    run_.reservation = "r-1";
    run_.variant_second = true;
    for (auto* arm : {&receipts_.a, &receipts_.b}) {
      model::Receipt& receipt = arm->emplace();
      receipt.ending = model::Ending::kExited;
      receipt.wall = std::chrono::seconds(2);
      receipt.boot_id = "boot";
      receipt.work = 1;
      receipt.outputs = {{"{out}/x", "0d", 1, false}, {"{out}/log", {}, 9, true}};
    }
    receipts_.a->started_monotonic = Nanos{5};
    receipts_.b->started_monotonic = Nanos{9};
  }
  model::PairFact fact() const { return fact_of(run_, spec_, receipts_); }

  model::Spec spec_;
  model::Pair run_;
  launch::Receipts receipts_;
};

TEST_F(FactTest, ASoundPairCounts) {
  EXPECT_EQ(fact().void_reason, "");
  EXPECT_EQ(fact().ran_variant_second, true);
  EXPECT_EQ(model::same(fact().a.output_digest, fact().b.output_digest), true);
}

TEST_F(FactTest, TheOrderIsThatOfAClockThatIsNeverSet) {
  receipts_.a->started = Nanos{1000};
  receipts_.b->started = Nanos{10};  // The wall clock was set back between the arms.
  EXPECT_EQ(fact().ran_variant_second, true);
  std::swap(receipts_.a->started_monotonic, receipts_.b->started_monotonic);
  EXPECT_EQ(fact().ran_variant_second, false);
  receipts_.b->boot_id = "another";
  EXPECT_FALSE(fact().ran_variant_second.has_value());
  receipts_.b->boot_id = "boot";
  receipts_.b->started_monotonic = Nanos{0};  // As of an older worker.
  EXPECT_FALSE(fact().ran_variant_second.has_value());
}

TEST_F(FactTest, AnOutputThatMustBeThereAndIsNotIsAFailure) {
  receipts_.b->outputs[0].sha256.reset();
  EXPECT_EQ(fact().void_reason, "B: output {out}/x is missing");
  EXPECT_EQ(fault_of(fact()), model::Fault::kB);
  receipts_.a->outputs[0].sha256.reset();
  EXPECT_EQ(fault_of(fact()), model::Fault::kBoth);
  EXPECT_EQ(model::same(fact().a.output_digest, fact().b.output_digest), std::nullopt);
}

TEST_F(FactTest, AnOutputThatIsNotDigestedMayDifferButMustBeThere) {
  receipts_.b->outputs[1].bytes = 12;
  EXPECT_EQ(model::same(fact().a.output_digest, fact().b.output_digest), true);
  receipts_.b->outputs[1].bytes = 0;
  EXPECT_EQ(fact().void_reason, "B: output {out}/log is missing or empty");
}

TEST_F(FactTest, MoreOrFewerFilesAreAnotherResult) {
  receipts_.a->outputs.push_back({"{out}/y", "0e", 1, false});
  EXPECT_EQ(model::same(fact().a.output_digest, fact().b.output_digest), false);
}

TEST_F(FactTest, ARunWithoutANumberIsTheArmsOwnFailure) {
  receipts_.b->work.reset();
  EXPECT_EQ(fact().void_reason, "B reports no work");
  EXPECT_EQ(fault_of(fact()), model::Fault::kB);
  EXPECT_EQ(fact().b.failure, "reports no work");
  receipts_.b->work = 0;
  EXPECT_EQ(fault_of(fact()), model::Fault::kB);
  spec_.metric = "loss";
  receipts_.a->metrics["loss"] = 1;
  for (const double odd : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    receipts_.b->metrics["loss"] = odd;
    EXPECT_EQ(fault_of(fact()), model::Fault::kB) << odd;
  }
}

TEST_F(FactTest, ARunThatIsLostIsLostToTheArmThatWasUnderWay) {
  receipts_.lost = true;
  receipts_.problem = "its worker died while B ran";
  receipts_.under_way = "B";
  receipts_.b.reset();
  EXPECT_EQ(fact().void_reason, "its worker died while B ran");
  EXPECT_EQ(fault_of(fact()), model::Fault::kB);
  receipts_.under_way = "";
  EXPECT_EQ(fault_of(fact()), model::Fault::kUnknown);
  receipts_.under_way = "AB";
  receipts_.a.reset();
  EXPECT_EQ(fault_of(fact()), model::Fault::kBoth);
}

TEST_F(FactTest, AReceiptThatIsGoneIsLostToTheArmThatRanSince) {
  receipts_.problem = "arm A: the receipt was changed after it was written";
  receipts_.under_way = "B";
  receipts_.a.reset();
  EXPECT_EQ(fault_of(fact()), model::Fault::kB);
  EXPECT_GT(fact().b.cost, 0) << "what it cost is known";
}

TEST_F(FactTest, InABlockEachVariantAnswersForItself) {
  receipts_.lost = true;
  receipts_.under_way = "C";
  receipts_.more = {std::nullopt};
  EXPECT_EQ(fault_of(fact()), model::Fault::kUnknown) << "B was over";
  run_.block = "r-1";
  run_.arm = 2;
  EXPECT_EQ(fault_of(fact()), model::Fault::kB);
}

TEST_F(FactTest, AnArmThatWasCancelledBeforeItsTurnIsNotToBlame) {
  receipts_.a->ending = model::Ending::kCancelled;
  receipts_.b->ending = model::Ending::kCancelled;
  receipts_.b->wall = Nanos{0};
  receipts_.b->work.reset();
  EXPECT_EQ(fault_of(fact()), model::Fault::kA);
}

}  // namespace
}  // namespace amdahl::app
