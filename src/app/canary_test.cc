#include "app/canary.h"

#include <set>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/production.h"
#include "app/promote.h"
#include "app/roi.h"
#include "app/run.h"
#include "app/test_kit.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

using canary::RunState;
using model::CanaryState;

class CanaryTest : public ContextTest {
 protected:
  // A hypothesis that sets NAME=1, approved at the gate.
  void promote(const std::string& id, const std::string& variable) {
    model::Change change;
    change.env[variable] = "1";
    ContextTest::promote(id, change);
  }

  ledger::Family family() { return *context_.ledger->family("eval"); }
  CanaryView view(std::size_t which = 0) { return (*read_canaries(context_, "eval")).at(which); }

  ProductionRun begin() {
    model::Usage begun;
    begun.job = "j-1";
    begun.start = std::chrono::hours(1);
    auto run = begin_production(context_.config.state_dir, *context_.ledger, family(), begun);
    EXPECT_TRUE(run);
    return *std::move(run);
  }

  // One production run of so many seconds, with and without h-1.
  void run(double with_s, double without_s) {
    const ProductionRun run = begin();
    model::Usage ended;
    ended.job = "j-1";
    ended.family = "eval";
    ended.host = os::host_name();
    ended.start = std::chrono::hours(1);
    ended.end = ended.start + from_seconds(run.canary.held_back.empty() ? with_s : without_s);
    ended.work = 1;
    ASSERT_TRUE(end_production(run, ended));
  }

  std::vector<std::string> said_;
  Say to_said_ = [this](const std::string& line) { said_.push_back(line); };
};

TEST_F(CanaryTest, APromotionOpensOne) {
  adopt();
  model::Usage past;
  past.job = "j-0";
  past.family = "eval";
  past.failed = true;
  ASSERT_TRUE(os::make_dirs(context_.path("usage")));
  ASSERT_TRUE(os::write_file(context_.path("usage/j-0.json"), dump_json(encode(past))));
  promote("h-1", "A");
  const model::Canary canary = view().row.canary;
  EXPECT_EQ(view().row.state, CanaryState::kOpen);
  EXPECT_EQ(canary.one_in, 10);
  EXPECT_EQ(canary.wanted_runs, 200);
  EXPECT_EQ(canary.promised, 0.223);
  EXPECT_EQ(canary.sigma, 0.07) << "with no neighbours to learn from, the experiment's";
  EXPECT_EQ(canary.past_runs, 1);
  EXPECT_EQ(canary.past_failed, 1);
  EXPECT_TRUE(is_empty(canary.before));
  EXPECT_EQ(canary.after.env.at("A"), "1");
  EXPECT_EQ(canary.seed.size(), 16U);
  promote("h-2", "B");
  EXPECT_EQ(view(1).row.canary.number, 1);
  EXPECT_EQ(view(1).row.canary.before.env.size(), 1U);
}

TEST_F(CanaryTest, NoneIsOpenedWhereNoneIsWanted) {
  adopt();
  context_.config.canary_runs = 0;
  promote("h-1", "A");
  EXPECT_TRUE((*read_canaries(context_, "")).empty());
  const ProductionRun run = begin();
  EXPECT_EQ(run.canary.changes, std::vector<std::string>{"h-1"});
  EXPECT_EQ(run.canary.slot, -1);
  EXPECT_EQ(run.change.env.at("A"), "1");
  EXPECT_FALSE(os::exists(context_.path("canary")));
}

TEST_F(CanaryTest, ARunGoesWithTheStackOrWithoutWhatIsHeldBack) {
  adopt();
  promote("h-1", "A");
  promote("h-2", "B");
  int without_first = 0;
  int without_second = 0;
  for (int i = 0; i < 20; ++i) {
    const ProductionRun run = begin();
    EXPECT_EQ(run.canary.slot, i);
    const bool first = run.canary.held_back == "h-1";
    const bool second = run.canary.held_back == "h-2";
    EXPECT_EQ(run.change.env.contains("A"), !first);
    EXPECT_EQ(run.change.env.contains("B"), !second);
    without_first += first ? 1 : 0;
    without_second += second ? 1 : 0;
    ASSERT_TRUE(end_production(run, {}));
  }
  EXPECT_EQ(without_first, 2);
  EXPECT_EQ(without_second, 2);
}

TEST_F(CanaryTest, TheRecordIsThereBeforeTheRunAndTellsALostOneFromARunningOne) {
  adopt();
  promote("h-1", "A");
  {
    const ProductionRun run = begin();
    const WatchedRuns watched = watched_runs(context_.config.state_dir, "eval", clock_.unix_time());
    ASSERT_EQ(watched.runs.size(), 1U);
    EXPECT_EQ(watched.runs[0].state, RunState::kRunning);
    EXPECT_TRUE(watched.runs[0].usage.canary == run.canary);
  }
  EXPECT_EQ(watched_runs(context_.config.state_dir, "eval", clock_.unix_time()).runs[0].state,
            RunState::kLost);
  EXPECT_EQ(view().result.lost, 1);
  run(80, 100);
  const WatchedRuns both = watched_runs(context_.config.state_dir, "eval", clock_.unix_time());
  ASSERT_EQ(both.runs.size(), 2U);
  EXPECT_EQ(both.runs[1].state, RunState::kEnded);
  EXPECT_EQ(both.runs[1].usage.canary.slot, 1) << "the slot of a lost run stays taken";
}

// Its lock cannot be seen from here, and its host may have died.
TEST_F(CanaryTest, ARunOfAnotherHostIsLostWhenItHasBeenSilentForAnHour) {
  adopt();
  promote("h-1", "A");
  using std::chrono::hours;
  using std::chrono::minutes;
  model::Usage begun;
  begun.family = "eval";
  begun.host = "n2";
  begun.start = clock_.unix_time();
  begun.ending = "running";
  const std::string record = context_.path("canary/eval/n2/00000000.json");
  ASSERT_TRUE(os::make_dirs(context_.path("canary/eval/n2")));
  ASSERT_TRUE(os::write_file(record, dump_json(encode(begun))));
  const auto state = [&](Nanos later) {
    return watched_runs(context_.config.state_dir, "eval", begun.start + later).runs.at(0).state;
  };
  EXPECT_EQ(state(hours(24 * 6)), RunState::kRunning) << "an older version says nothing";
  EXPECT_EQ(state(hours(24 * 8)), RunState::kLost);
  ProductionRun run;
  run.record = record;
  show_alive(run, minutes(0), begun.start);
  show_alive(run, minutes(30), begun.start + minutes(30));
  show_alive(run, minutes(30) + std::chrono::seconds(1), begun.start + hours(99));
  EXPECT_EQ(state(minutes(89)), RunState::kRunning);
  EXPECT_EQ(state(minutes(91)), RunState::kLost) << "written once a minute, not more often";
  begun.end = begun.start + hours(2);
  ASSERT_TRUE(end_production(run, begun));
  EXPECT_EQ(state(hours(24 * 8)), RunState::kEnded);
  EXPECT_FALSE(os::exists(context_.path("canary/eval/n2/00000000.alive")));
}

TEST_F(CanaryTest, AnUnreadableRecordIsNamed) {
  adopt();
  promote("h-1", "A");
  run(80, 100);
  const std::string path =
      context_.path(fmt::format("canary/eval/{}/00000000.json", os::host_name()));
  ASSERT_TRUE(os::write_file(path, "{"));
  const WatchedRuns watched = watched_runs(context_.config.state_dir, "eval", clock_.unix_time());
  EXPECT_TRUE(watched.runs.empty());
  ASSERT_EQ(watched.unreadable.size(), 1U);
  EXPECT_TRUE(watched.unreadable[0].starts_with(path + ": ")) << watched.unreadable[0];
}

// Real processes, for the lock is the kernel's.
TEST_F(CanaryTest, ConcurrentRunsGetDifferentSlots) {
  adopt();
  promote("h-1", "A");
  constexpr int kProcesses = 8;
  constexpr int kEach = 5;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    const std::string path = context_.path("ledger.db");
    auto ledger = ledger::open_sqlite(path, {.create = false, .read_only = true});
    if (!ledger) ::_exit(1);
    auto mine = *std::move(ledger);
    for (int k = 0; k < kEach; ++k) {
      const auto eval = mine->family("eval");
      auto run =
          eval ? begin_production(context_.config.state_dir, *mine, *eval, {}) : eval.error();
      if (!run || !end_production(*std::move(run), {})) ::_exit(2);
    }
    ::_exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::set<int> slots;
  for (const canary::Watched& run :
       watched_runs(context_.config.state_dir, "eval", clock_.unix_time()).runs) {
    slots.insert(run.usage.canary.slot);
  }
  EXPECT_EQ(slots.size(), static_cast<std::size_t>(kProcesses * kEach));
  EXPECT_EQ(*slots.rbegin(), kProcesses * kEach - 1) << "and none is left out";
}

TEST_F(CanaryTest, TheCycleProposesAPersonRollsBack) {
  adopt();
  promote("h-1", "A");
  for (int i = 0; i < 80; ++i) run(130, 100);
  ASSERT_TRUE(watch_canaries(context_, to_said_, 0));
  EXPECT_EQ(view().row.state, CanaryState::kRollbackProposed);
  EXPECT_EQ(family().stack, std::vector<std::string>{"h-1"}) << "the loop rolls nothing back";
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_TRUE(
      said_[0].starts_with("eval: the canary of h-1 ended, rollback proposed: in "
                           "production it costs 30 % more ("))
      << said_[0];
  EXPECT_TRUE(
      said_[0].ends_with("; type: amdahl gate rollback h-1 --reason TEXT, or: amdahl "
                         "canary keep h-1 --reason TEXT"))
      << said_[0];
  ASSERT_TRUE(watch_canaries(context_, to_said_, 0));
  EXPECT_EQ(said_.size(), 1U) << "said once";
  EXPECT_NEAR(*(*context_.ledger->savings()).at(0).realised_share, -0.3, 1e-9);
  ASSERT_TRUE(roll_back(context_, "h-1", "ada", "dear"));
  EXPECT_EQ(view().row.state, CanaryState::kRolledBack);
  EXPECT_TRUE(family().stack.empty());
}

TEST_F(CanaryTest, ThePolicyRollsBackUnderItsOwnName) {
  adopt();
  promote("h-1", "A");
  for (int i = 0; i < 80; ++i) run(130, 100);
  context_.config.gate_policy = "demo";
  ASSERT_TRUE(watch_canaries(context_, to_said_, 0));
  EXPECT_EQ(view().row.state, CanaryState::kRolledBack);
  EXPECT_EQ(view().row.actor, "policy:demo");
  EXPECT_TRUE(family().stack.empty());
  EXPECT_EQ(said_.size(), 2U);
}

TEST_F(CanaryTest, APersonKeepsWhatItProposesToRollBack) {
  adopt();
  promote("h-1", "A");
  for (int i = 0; i < 80; ++i) run(130, 100);
  ASSERT_TRUE(watch_canaries(context_, to_said_, 0));
  EXPECT_EQ(keep_change(context_, "h-1", "ada", " ").error().text,
            "keeping a change needs a --reason");
  EXPECT_FALSE(keep_change(context_, "h-9", "ada", "x"));
  EXPECT_EQ(*keep_change(context_, "h-1", "ada", "it was the disk"),
            "h-1 stays in the stack of eval, and its canary is closed");
  EXPECT_EQ(view().row.state, CanaryState::kKept);
  EXPECT_EQ(view().row.reason, "it was the disk");
  EXPECT_EQ(begin().canary.slot, -1) << "nobody is held back any more";
}

// A production job does not fail for the loop's sake.
TEST_F(CanaryTest, WhatCannotBeAppliedToTheCommandIsLeftOutAloud) {
  adopt();
  model::Change change;
  change.env["A"] = "1";
  change.config["conf.json#depth"] = "2";
  ContextTest::promote("h-1", change);
  ASSERT_TRUE(os::write_file((folder_ / "conf.json").string(), R"({"depth": 1})"));
  RunOptions options;
  options.argv = {"sh", "-c", "exit 0"};
  options.family = "eval";
  options.promoted = true;
  options.quiet = true;
  const auto outcome = run_job(context_.config, options);
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_TRUE(succeeded(outcome->receipt));
  EXPECT_NE(outcome->warning, "");
  EXPECT_TRUE(outcome->canary.changes.empty());
  EXPECT_TRUE(watched_runs(context_.config.state_dir, "eval", clock_.unix_time()).runs.empty());
}

TEST_F(CanaryTest, TheCommandKeepsItsOwnEnvironmentAndGetsTheStack) {
  adopt();
  promote("h-1", "A");
  RunOptions options;
  options.argv = {"sh", "-c", R"(echo "A is $A in $PWD" && echo '{"work": 3}' > $AMDAHL_REPORT)"};
  options.family = "eval";
  options.promoted = true;
  options.quiet = true;
  const auto outcome = run_job(context_.config, options);
  ASSERT_TRUE(outcome) << outcome.error().text;
  const bool held = !outcome->canary.held_back.empty();
  EXPECT_EQ(outcome->receipt.stdout_tail, fmt::format("A is {} in {}\n", held ? "" : "1",
                                                      std::filesystem::current_path().string()));
  EXPECT_EQ(outcome->warning, "");
  EXPECT_EQ(outcome->receipt.work, 3);
  const auto watched = watched_runs(context_.config.state_dir, "eval", clock_.unix_time());
  ASSERT_EQ(watched.runs.size(), 1U);
  EXPECT_EQ(watched.runs[0].state, RunState::kEnded);
  EXPECT_EQ(watched.runs[0].usage.work, 3);
  EXPECT_TRUE(watched.runs[0].usage.utilisation.accelerators.empty());
}

TEST_F(CanaryTest, WhatProductionSavedIsOnTheBill) {
  adopt();
  promote("h-1", "A");
  for (int i = 0; i < 60; ++i) run(80, 100);
  const auto roi = return_on_investment(context_, 2.0);
  ASSERT_TRUE(roi) << roi.error().text;
  ASSERT_TRUE(roi->rows.at(0).production);
  EXPECT_EQ(roi->rows[0].production->pairs, 6);
  EXPECT_NEAR(roi->rows[0].production->effect, -std::log(0.8), 1e-9);
  promote("h-2", "B");
  EXPECT_FALSE(return_on_investment(context_, 2.0)->rows.at(0).production)
      << "of the second nothing is known";
  ASSERT_TRUE(roll_back(context_, "h-2", "ada", "x"));
  EXPECT_EQ(return_on_investment(context_, 2.0)->rows.at(0).promoted, 1)
      << "what was rolled back saves nothing";
}

}  // namespace
}  // namespace amdahl::app
