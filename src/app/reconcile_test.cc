#include "app/reconcile.h"

#include <map>
#include <set>
#include <span>

#include "app/budget.h"
#include "app/pairs.h"
#include "app/ran_with.h"
#include "app/test_kit.h"
#include "model/plan.h"

namespace amdahl::app {
namespace {

using namespace std::chrono_literals;
using launch::RunState;

// Says of every run what the test wants, and keeps what it was asked to do.
class ToldLauncher : public launch::Launcher {
 public:
  std::vector<launch::SubmitAnswer> submit(std::span<const launch::PairRequest> asked) override {
    std::vector<launch::SubmitAnswer> answers;
    for (const launch::PairRequest& request : asked) {
      requests[request.reservation] = request;
      ++submitted[request.reservation];
      answers.push_back({handover, "told:" + request.reservation, "no worker can be had"});
    }
    return answers;
  }
  Result<> release(std::span<const launch::RunRef> runs) override {
    for (const launch::RunRef& run : runs) ++released[run.reservation];
    return Ok{};
  }
  std::vector<launch::RunStatus> status(std::span<const launch::RunRef> runs) override {
    std::vector<launch::RunStatus> answers;
    for (const launch::RunRef& run : runs) {
      EXPECT_EQ(run.ticket, requests[run.reservation].ticket);
      launch::RunStatus answer = told[run.reservation];
      if (!gone.contains(run.reservation)) answer.worker = "told:" + run.reservation;
      answers.push_back(answer);
    }
    return answers;
  }
  Result<launch::Capacity> capacity(const launch::PairRequest&) override {
    return launch::Capacity{};
  }
  Result<launch::Receipts> collect(const launch::RunRef& run) override {
    return receipts[run.reservation];
  }
  Result<> cancel(const launch::RunRef& run) override {
    done.push_back("cancel " + run.reservation);
    return Ok{};
  }
  Result<> kill(const launch::RunRef& run) override {
    done.push_back("kill " + run.reservation);
    return Ok{};
  }

  std::map<std::string, launch::PairRequest> requests;
  std::map<std::string, int> submitted;
  std::map<std::string, int> released;
  std::map<std::string, launch::RunStatus> told;
  std::map<std::string, launch::Receipts> receipts;
  std::set<std::string> gone;  // With all that its place knew of it.
  std::vector<std::string> done;
  launch::Handover handover = launch::Handover::kAccepted;
};

class ReconcileTest : public ContextTest {
 protected:
  ReconcileTest() {
    auto launcher = std::make_unique<ToldLauncher>();
    launcher_ = launcher.get();
    context_.launcher = std::move(launcher);
    adopt();
  }

  // An A/A pair of the family, or a pair of an experiment: its reservation.
  std::string reserve(int index, const std::string& experiment = "") {
    model::Pair order;
    order.family = "eval";
    order.experiment = experiment;
    order.aim.purpose = experiment.empty() ? model::Purpose::kSame : model::Purpose::kCompare;
    order.index = index;
    order.variant_second = true;
    const auto made = submit_pair(context_, *context_.ledger->family("eval"), order, {0}, 0);
    EXPECT_TRUE(made) << made.error().text;
    return made ? made->reservation : "";
  }

  void register_experiment() {
    model::Hypothesis h;
    h.id = "h-1";
    h.family = "eval";
    h.title = "larger batches";
    h.change.args = {{"--batch", "32"}};
    h.key = "k-1";
    model::Experiment x;
    x.id = "x-1";
    x.hypothesis = h.id;
    x.family = "eval";
    x.campaign = "c1";
    x.seed = "s";
    ASSERT_EQ(say({{"hypothesis.proposed", "ada", h.id, encode(h)},
                   {"experiment.registered", "cycle", x.id, encode(x)}}),
              "");
  }

  void close_experiment() {
    model::Verdict verdict;
    verdict.hypothesis = "h-1";
    verdict.experiment = "x-1";
    verdict.kind = model::VerdictKind::kInconclusive;
    verdict.reason = "the test ends it";
    ASSERT_EQ(say({{"verdict.recorded", "cycle", "h-1", encode(verdict)}}), "");
  }

  launch::RunStatus told(RunState state, std::optional<Nanos> elapsed) const {
    const launch::PairRequest& request = launcher_->requests.begin()->second;
    return {state, 1, elapsed, longest_arms(request), longest_run(request)};
  }

  // "" and what was said, or the error.
  std::string visit() {
    const auto ended =
        reconcile(context_, submitted_, 0, [&](const std::string& text) { said_ += text + "\n"; });
    return ended ? "" : ended.error().text;
  }

  model::Pair run(const std::string& reservation) {
    for (const auto purpose : {model::Purpose::kSame, model::Purpose::kCompare}) {
      for (const model::Pair& run : *context_.ledger->family_runs("eval", model::Aim{purpose})) {
        if (run.reservation == reservation) return run;
      }
    }
    ADD_FAILURE() << reservation;
    return {};
  }

  // What the budget says is what its runs say, to the millionth.
  void expect_sums() {
    std::map<std::string, double> spent;
    double committed = 0;
    for (const auto purpose : {model::Purpose::kSame, model::Purpose::kCompare}) {
      for (const model::Pair& run : *context_.ledger->family_runs("eval", model::Aim{purpose})) {
        const bool over =
            run.state == model::PairState::kVoid || run.state == model::PairState::kCollected;
        if (over) spent["accelerator_s"] += run.spent_accelerator_s;
        if (!over) committed += run.reserved_accelerator_s;
      }
    }
    for (const ledger::Budget& budget : *context_.ledger->budgets()) {
      if (budget.resource != "accelerator_s") continue;
      EXPECT_NEAR(budget.committed, committed, 1e-6);
      EXPECT_NEAR(budget.spent + budget.overrun, spent["accelerator_s"], 1e-6);
    }
  }

  ToldLauncher* launcher_ = nullptr;
  Submitted submitted_;
  std::string said_;
};

TEST_F(ReconcileTest, ALostRunCostsTheTimeItHeldItsSlots) {
  const std::string r = reserve(1);
  launcher_->told[r] = told(RunState::kLost, 4s);
  ASSERT_EQ(visit(), "");
  const model::Pair lost = run(r);
  EXPECT_EQ(lost.state, model::PairState::kVoid);
  EXPECT_NEAR(lost.spent_accelerator_s, 4, 1e-6) << "one accelerator for four seconds";
  EXPECT_NE(said_.find("the worker died without writing receipts"), std::string::npos) << said_;
  expect_sums();
}

TEST_F(ReconcileTest, ALostRunOfUnknownLengthCostsAllThatItReserved) {
  const std::string r = reserve(1);
  const std::string late = reserve(2);
  launcher_->told[r] = told(RunState::kLost, std::nullopt);
  launcher_->told[late] = told(RunState::kLost, 24h * 30);  // No one looked for a month.
  ASSERT_EQ(visit(), "");
  EXPECT_GT(run(r).reserved_accelerator_s, 0);
  EXPECT_EQ(run(r).spent_accelerator_s, run(r).reserved_accelerator_s);
  EXPECT_EQ(run(late).spent_accelerator_s, run(late).reserved_accelerator_s);
  expect_sums();
}

TEST_F(ReconcileTest, AWorkerThatDoesNothingIsTriedThreeTimes) {
  const std::string r = reserve(1);
  int turns = 0;
  while (run(r).state != model::PairState::kVoid && ++turns < 100) {
    // A launcher says that it is held only when a worker could have begun.
    const bool queued = 5s * turns < launcher_->released[r] * 10s;
    launcher_->told[r] = told(queued ? RunState::kQueued : RunState::kHeld, 5s * turns);
    // Each turn a cold cycle, which knows only what the launcher has counted.
    launcher_->told[r].released = launcher_->released[r];
    submitted_.clear();
    ASSERT_EQ(visit(), "");
  }
  EXPECT_EQ(launcher_->released[r], 3);
  EXPECT_EQ(launcher_->submitted[r], 1);
  EXPECT_NE(said_.find("it was handed over 3 times, and no worker began it"), std::string::npos)
      << said_;
  EXPECT_GT(run(r).spent_accelerator_s, 0) << "it held its slots meanwhile";
  expect_sums();
}

TEST_F(ReconcileTest, WhatCannotBeHandedOverIsTriedThreeTimesByOneCycleToo) {
  const std::string r = reserve(1);
  launcher_->handover = launch::Handover::kRefused;
  launcher_->told[r] = {.state = RunState::kAbsent};
  for (int turn = 0; turn < 100 && run(r).state != model::PairState::kVoid; ++turn) {
    ASSERT_EQ(visit(), "");
    clock_.sleep(1s);
  }
  EXPECT_EQ(run(r).state, model::PairState::kVoid);
  EXPECT_EQ(launcher_->submitted[r], 4) << "once when it was reserved, and three times more";
}

// A variant that removes what shows a slow run would choose which of its runs are counted.
TEST_F(ReconcileTest, WhatWasHandedOverAndIsGoneIsVoidAndNotRunAgain) {
  register_experiment();
  for (const RunState state : {RunState::kAbsent, RunState::kForeign}) {
    const std::string r = reserve(state == RunState::kAbsent ? 1 : 2, "x-1");
    launcher_->told[r] = {.state = state, .elapsed = std::nullopt};
    launcher_->gone.insert(r);
    ASSERT_EQ(visit(), "");
    EXPECT_EQ(launcher_->submitted[r], 1);
    EXPECT_EQ(run(r).state, model::PairState::kVoid);
    EXPECT_EQ(run(r).spent_accelerator_s, run(r).reserved_accelerator_s);
    ASSERT_TRUE(run(r).fact) << "as a lost pair it is evidence";
    EXPECT_TRUE(run(r).fact->voided);
    EXPECT_FALSE(run(r).fact->a.failed || run(r).fact->b.failed) << "nobody can tell whose it was";
  }
  EXPECT_NE(said_.find("its folder was removed"), std::string::npos) << said_;
  expect_sums();
}

TEST_F(ReconcileTest, ARunOverItsDeadlineIsAskedToEndThenMadeToThenGivenUp) {
  const std::string r = reserve(1);
  const Nanos deadline = told(RunState::kRunning, 0s).deadline;
  launcher_->told[r] = told(RunState::kRunning, deadline - 1s);
  ASSERT_EQ(visit(), "");
  EXPECT_TRUE(launcher_->done.empty());
  for (const Nanos late : {1s, 2s, 16s, 20s}) {
    launcher_->told[r] = told(RunState::kRunning, deadline + late);
    ASSERT_EQ(visit(), "");
  }
  EXPECT_EQ(launcher_->done, (std::vector<std::string>{"cancel " + r, "kill " + r}));
  EXPECT_EQ(run(r).state, model::PairState::kSubmitted);
  launcher_->told[r] = told(RunState::kRunning, deadline + 31s);
  launcher_->receipts[r].lost = true;
  launcher_->receipts[r].under_way = "B";
  ASSERT_EQ(visit(), "");
  EXPECT_EQ(run(r).state, model::PairState::kVoid);
  EXPECT_TRUE(run(r).fact->b.failed) << "a variant must not hang to hide a slow run";
  EXPECT_FALSE(run(r).fact->a.failed);
  EXPECT_NE(said_.find("and its worker cannot be ended"), std::string::npos) << said_;
  EXPECT_EQ(run(r).spent_accelerator_s, run(r).reserved_accelerator_s);
  expect_sums();
}

TEST_F(ReconcileTest, PairsOfAClosedExperimentAreCancelled) {
  register_experiment();
  const std::string r = reserve(1, "x-1");
  const std::string other = reserve(1);
  const std::string late = reserve(2, "x-1");
  launcher_->told[r] = launcher_->told[other] = told(RunState::kRunning, 2s);
  const auto cancel = [&] {
    ASSERT_TRUE(
        cancel_closed(context_, submitted_, [&](const std::string& s) { said_ += s + "\n"; }));
  };
  cancel();
  EXPECT_TRUE(launcher_->done.empty()) << "it is open";
  close_experiment();
  cancel();
  cancel();
  EXPECT_EQ(launcher_->done, (std::vector<std::string>{"cancel " + r, "cancel " + late}));
  launcher_->done.clear();
  launcher_->told[r] = told(RunState::kLost, 3s);
  launcher_->told[late] = {.state = RunState::kHeld};
  ASSERT_EQ(visit(), "");
  EXPECT_NEAR(run(r).spent_accelerator_s, 3, 1e-6);
  EXPECT_EQ(run(late).state, model::PairState::kVoid) << "what has not begun never begins";
  EXPECT_EQ(run(late).spent_accelerator_s, 0);
  EXPECT_EQ(launcher_->submitted[late], 1) << "nor is it handed over again";
  EXPECT_EQ(run(other).state, model::PairState::kSubmitted);
  expect_sums();
}

TEST_F(ReconcileTest, ReceiptsOfAnotherPlanOrOrderAreRefusedAndNamed) {
  const std::string r = reserve(1);
  const std::string s = reserve(2);
  const std::string fine = reserve(3);
  const std::string plan = digest(launcher_->requests[r].a);
  const auto receipts = [&](const std::string& of_b, std::vector<std::string> order) {
    launch::Receipts made;
    model::Receipt receipt;
    receipt.wall = 2s;
    receipt.accelerators = 1;
    receipt.work = 1;
    receipt.ending = model::Ending::kExited;
    receipt.plan_digest = plan;
    made.a = made.b = receipt;
    made.b->plan_digest = of_b;
    made.b->started = 1s;
    made.order = std::move(order);
    return made;
  };
  launcher_->receipts[r] = receipts("0123", {"A", "B"});
  launcher_->receipts[s] = receipts(plan, {"B", "A"});
  launcher_->receipts[fine] = receipts(plan, {"A", "B"});
  for (const std::string& run : {r, s, fine}) {
    launcher_->told[run] = told(RunState::kFinished, 5s);
  }
  ASSERT_EQ(visit(), "");
  EXPECT_EQ(run(r).state, model::PairState::kVoid);
  EXPECT_EQ(run(s).state, model::PairState::kVoid);
  EXPECT_EQ(run(fine).state, model::PairState::kCollected) << said_;
  EXPECT_NE(said_.find("arm B ran plan 0123, and " + plan + " was reserved"), std::string::npos)
      << said_;
  EXPECT_NE(said_.find("the arms ran in the order B, A"), std::string::npos) << said_;
  EXPECT_NEAR(run(r).spent_accelerator_s, 5, 1e-6) << "it was run, whatever it was";
  EXPECT_NEAR(run(fine).spent_accelerator_s, 4, 1e-6);
  expect_sums();
}

TEST_F(ReconcileTest, ReceiptsOfAnotherEnvironmentOrCodeAreRefusedAndNamed) {
  const model::Spec spec = context_.ledger->family("eval")->spec;
  ASSERT_TRUE(pin_environment(context_, "eval", spec, false));
  context_.sources["eval"] = {spec.repo, "c0de", clock_.monotonic()};
  const RanWith with = ran_with(context_, "eval", spec);
  ASSERT_EQ(with.source, "c0de");
  const std::string fine = reserve(1);
  const std::string elsewhere = reserve(2);
  const std::string edited = reserve(3);
  EXPECT_EQ(launcher_->requests[fine].environment, with.environment);
  const auto receipts = [&](const std::string& environment, const std::string& source) {
    launch::Receipts made;
    model::Receipt receipt;
    receipt.wall = 2s;
    receipt.accelerators = 1;
    receipt.work = 1;
    receipt.ending = model::Ending::kExited;
    receipt.plan_digest = digest(launcher_->requests[fine].a);
    receipt.environment = with.environment;
    receipt.source = "c0de";
    made.a = made.b = receipt;
    made.b->environment = environment;
    made.b->source = source;
    return made;
  };
  launcher_->receipts[fine] = receipts(with.environment, "c0de");
  launcher_->receipts[elsewhere] = receipts("0123", "c0de");
  launcher_->receipts[edited] = receipts(with.environment, "c0de+1");
  for (const std::string& run : {fine, elsewhere, edited}) {
    launcher_->told[run] = told(RunState::kFinished, 5s);
  }
  ASSERT_EQ(visit(), "");
  EXPECT_EQ(run(fine).state, model::PairState::kCollected) << said_;
  EXPECT_EQ(run(elsewhere).state, model::PairState::kVoid);
  EXPECT_EQ(run(edited).state, model::PairState::kVoid);
  EXPECT_NE(said_.find("arm B ran in environment 0123, and " + with.environment + " was reserved"),
            std::string::npos)
      << said_;
  EXPECT_NE(said_.find("arm B ran source code c0de+1, and c0de was reserved"), std::string::npos)
      << said_;
  expect_sums();
}

TEST_F(ReconcileTest, BuildsArePaidForAlsoWhereNoArmRan) {
  const std::string r = reserve(1);
  launch::Receipts receipts;
  model::Receipt receipt;
  receipt.accelerators = 1;
  receipt.plan_digest = digest(launcher_->requests[r].a);
  receipts.a = receipts.b = receipt;
  receipts.a->reason = "not run: arm B cannot start";
  receipts.a->held_back = true;
  receipts.b->reason = "the build failed: make: exit 2";
  receipts.b->never_runs = model::NeverRuns::kBuildFailed;
  receipts.build_wall = 90s;
  receipts.build_cpu = 60s;
  launcher_->receipts[r] = receipts;
  launcher_->told[r] = told(RunState::kFinished, 95s);
  ASSERT_EQ(visit(), "");
  const model::Pair built = run(r);
  EXPECT_EQ(built.state, model::PairState::kVoid);
  EXPECT_NEAR(built.spent_accelerator_s, 90, 1e-6);
  EXPECT_FALSE(built.fact->a.failed) << "the baseline is not to blame";
  EXPECT_TRUE(built.fact->b.failed);
  expect_sums();
}

TEST_F(ReconcileTest, AnUnknownRunIsNeverSubmittedAgainAndStopsNoOther) {
  launcher_->handover = launch::Handover::kUnknown;
  const std::string r = reserve(1);
  launcher_->handover = launch::Handover::kAccepted;
  const std::string s = reserve(2);
  EXPECT_EQ(run(r).state, model::PairState::kReserved) << "nobody knows whether it is there";
  EXPECT_EQ(launcher_->released[r], 0);
  launcher_->told[s] = told(RunState::kLost, 1s);
  for (int turn = 0; turn < 100; ++turn) {
    launcher_->told[r] = {.state = RunState::kUnknown, .why = "squeue: exit 1"};
    if (turn % 3 == 0) submitted_.clear();
    ASSERT_EQ(visit(), "");
    clock_.sleep(60s);
  }
  EXPECT_EQ(launcher_->submitted[r], 1);
  EXPECT_EQ(run(r).state, model::PairState::kReserved);
  EXPECT_EQ(run(s).state, model::PairState::kVoid);
  // The place found it, held: it is adopted, and only then let go.
  launcher_->told[r] = {.state = RunState::kHeld};
  ASSERT_EQ(visit(), "");
  EXPECT_EQ(run(r).state, model::PairState::kSubmitted);
  EXPECT_EQ(run(r).worker_run_id, "told:" + r);
  EXPECT_EQ(launcher_->released[r], 1);
  EXPECT_EQ(launcher_->submitted[r], 1);
}

TEST_F(ReconcileTest, WhatThePlaceEndedIsNobodysFaultAndCostsWhatThePlaceCharged) {
  register_experiment();
  const std::string r = reserve(1, "x-1");
  const std::string s = reserve(2, "x-1");
  const std::string gone = reserve(3, "x-1");
  const auto ended = [&](const std::string& run, RunState state) {
    launcher_->told[run] = told(state, 9s);
    launcher_->told[run].charge = launch::Charge{.wall = 7s, .accelerators = 4, .cpus = 8};
    launcher_->receipts[run].lost = true;
    launcher_->receipts[run].under_way = "B";
  };
  ended(r, RunState::kNodeFailed);
  ended(s, RunState::kOutOfMemory);
  ended(gone, RunState::kRequeued);
  ASSERT_EQ(visit(), "");
  EXPECT_EQ(run(r).fact->void_reason, "infrastructure: node failed");
  EXPECT_FALSE(run(r).fact->b.failed);
  EXPECT_NEAR(run(r).spent_accelerator_s, 28, 1e-6) << "all that was allocated";
  EXPECT_TRUE(run(s).fact->b.failed) << "an arm can use up the memory";
  EXPECT_EQ(launcher_->done, std::vector<std::string>{"cancel " + gone});
  EXPECT_FALSE(run(gone).fact->b.failed);
  expect_sums();
}

}  // namespace
}  // namespace amdahl::app
