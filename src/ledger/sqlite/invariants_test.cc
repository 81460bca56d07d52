#include <set>
#include <string_view>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ledger/sqlite/reduce.h"
#include "ledger/sqlite/test_kit.h"

// Each promise of the ledger, attacked through append() and by raw SQL.
namespace amdahl::ledger::sqlite {
namespace {

using model::VerdictKind;

class InvariantTest : public LedgerTest {
 protected:
  // Nothing was written, and the projections still follow from the events.
  ~InvariantTest() override { expect_sound(); }

  std::int64_t count_events() {
    const auto last = *ledger_->events("", 0, 1);
    return last.empty() ? 0 : last.front().seq;
  }
  void expect_refused(const Draft& draft, Error::Kind kind, const std::string& text) {
    const auto before = count_events();
    EXPECT_EQ(say(draft), text);
    EXPECT_EQ(kind_, kind);
    EXPECT_EQ(count_events(), before);
  }
  void expect_conflict(const Draft& draft, const std::string& text) {
    expect_refused(draft, Error::Kind::kConflict, text);
  }
};

TEST_F(InvariantTest, EventsAreForEver) {
  ASSERT_EQ(say(campaign_opened("c1", 5)), "");
  EXPECT_EQ(raw("UPDATE events SET actor = 'x'"), "events are for ever: none may be changed");
  EXPECT_EQ(raw("DELETE FROM events"), "events are for ever: none may be deleted");
  const std::string values = fmt::format("'a','b','c','{{}}','{}'", std::string(64, '0'));
  EXPECT_EQ(raw("INSERT OR REPLACE INTO events VALUES (1,0," + values + ")"),
            "an event gets the number after the last");
  EXPECT_EQ(raw("INSERT INTO events VALUES (3,0," + values + ")"),
            "an event gets the number after the last");
}

TEST_F(InvariantTest, UnknownKindsAndBadPayloadsAreRefused) {
  const auto kBad = Error::Kind::kBadInput;
  expect_refused(
      draft("hypothesis.propsed", "h-1", {}), kBad,
      "unknown event kind \"hypothesis.propsed\": did you mean \"hypothesis.proposed\"?");
  expect_refused(draft("budget.set", "accelerator_s", {{"limit", "much"}}), kBad,
                 "budget.set accelerator_s: /limit: must be a number");
  expect_refused(draft("budget.set", "accelerator_s", {{"limit", -1}}), kBad,
                 "budget.set accelerator_s: /limit: an amount must be between 0 and "
                 "9,000,000,000,000, but is -1");
  expect_refused(draft("cycle.noted", "c", {}, ""), kBad, "an event needs an actor");
  Draft other = proposed("h-1", "k");
  other.subject = "h-2";
  expect_refused(other, kBad,
                 "hypothesis.proposed h-2: the payload names another subject, \"h-1\"");
}

TEST_F(InvariantTest, EachKindHasOneReducer) {
  std::set<std::string_view> kinds;
  for (const Reducer& reducer : reducers()) EXPECT_TRUE(kinds.insert(reducer.kind).second);
}

TEST_F(InvariantTest, AppendIsAllOrNothing) {
  EXPECT_NE(say({campaign_opened("c1", 5), proposed("h-1", "k"), proposed("h-2", "k")}), "");
  EXPECT_EQ(count_events(), 0);
  EXPECT_FALSE((*ledger_->campaign()));
}

TEST_F(InvariantTest, APredictionIsFixedOnceItIsPutToTheTest) {
  Json outlook{{"predicted_gain", 0.4}, {"ceiling_share", 0.5}, {"prior", 0.2}, {"profile", "p-2"}};
  ASSERT_EQ(say({campaign_opened("c1", 5), proposed("h-1", "key1"),
                 draft("hypothesis.revised", "h-1", outlook)}),
            "");
  EXPECT_EQ((*ledger_->hypothesis("h-1")).hypothesis.predicted_gain, 0.4);
  EXPECT_EQ((*ledger_->hypothesis("h-1")).hypothesis.profile, "p-2");
  ASSERT_EQ(say({registered("x-1", "h-1", "c1")}), "");
  outlook["predicted_gain"] = 0.01;
  expect_conflict(draft("hypothesis.revised", "h-1", outlook),
                  "hypothesis.revised h-1: what is predicted is fixed once the hypothesis is put "
                  "to the test");
}

// 1. Never-retry keys.

TEST_F(InvariantTest, OneHolderOfAKey) {
  begin_experiment();
  expect_conflict(proposed("h-2", "key1"),
                  "hypothesis.proposed h-2: the key is already held by h-1 (live since 2023-11-14 "
                  "22:13:20 UTC)");
  EXPECT_EQ(raw("INSERT INTO hypothesis VALUES (99,'h-2','f','key1','live',0,'','','{}','')"),
            "another hypothesis holds this key");
  EXPECT_EQ(raw("INSERT OR REPLACE INTO hypothesis VALUES (99,'h-2','f','key1','live',0,'','',"
                "'{}','')"),
            "another hypothesis holds this key");
  EXPECT_EQ(raw("DROP TRIGGER hypothesis_new; INSERT INTO hypothesis"
                " VALUES (99,'h-2','f','key1','live',0,'','','{}','')"),
            "raw: UNIQUE constraint failed: hypothesis.key");
  ASSERT_TRUE(ledger_->rebuild());  // Brings the trigger back.
  EXPECT_EQ(raw("UPDATE hypothesis SET state = 'aborted'"),
            "a hypothesis ends by its verdict alone");
  EXPECT_EQ(raw("UPDATE hypothesis SET key = 'key2'"),
            "a hypothesis never changes but in its state");
  EXPECT_EQ(raw("DELETE FROM hypothesis"), "hypotheses are for ever");
}

TEST_F(InvariantTest, TheBlockingStatesAreTheModels) {
  constexpr VerdictKind kKinds[] = {
      VerdictKind::kPromoted, VerdictKind::kDeclined, VerdictKind::kRefuted,
      VerdictKind::kNoEffect, VerdictKind::kHarmful,  VerdictKind::kInconclusive,
      VerdictKind::kInvalid,  VerdictKind::kAborted,  VerdictKind::kDropped,
  };
  ASSERT_EQ(say(campaign_opened("c1", 40)), "");
  for (const VerdictKind kind : kKinds) {
    SCOPED_TRACE(name(kind));
    const std::string h = fmt::format("h-{}", name(kind));
    const std::string x = fmt::format("x-{}", name(kind));
    ASSERT_EQ(say({proposed(h, h), registered(x, h)}), "");
    if (kind == VerdictKind::kPromoted) {
      ASSERT_EQ(say({gate_opened(x, h), decided(x, true, "policy:demo", "as agreed")}), "");
    }
    ASSERT_EQ(say(judged(h, x, kind)), "");
    const auto holder = *ledger_->holder_of_key(h);
    EXPECT_EQ(holder.has_value(), model::blocks_retry(kind));
    EXPECT_EQ(holder ? holder->state : name(kind), name(kind));
    EXPECT_EQ(say(proposed(h + "-again", h)).empty(), !model::blocks_retry(kind));
  }
}

TEST_F(InvariantTest, OnlyAPersonReopensWithAReason) {
  end_experiment(VerdictKind::kRefuted);
  clock_.advance(std::chrono::hours(1));
  expect_conflict(
      proposed("h-2", "key1"),
      "hypothesis.proposed h-2: the key is already held by h-1 (refuted since 2023-11-14 22:13:20 "
      "UTC): to reopen it, run `amdahl ledger reopen h-1 --reason TEXT`");
  const auto reopen = [](std::string actor, std::string reason) {
    return draft("hypothesis.reopened", "h-1", {{"reason", reason}}, actor);
  };
  const std::string person =
      "hypothesis.reopened h-1: only a person reopens a hypothesis, not the cycle and not a policy";
  expect_conflict(reopen("cycle", "why not"), person);
  expect_conflict(reopen(" Cycle", "why not"), person);
  expect_conflict(reopen("policy:demo", "why not"), person);
  expect_conflict(reopen("ada", " \n"),
                  "hypothesis.reopened h-1: a hypothesis is reopened with a reason");
  expect_refused(reopen("", "why not"), Error::Kind::kBadInput, "an event needs an actor");
  expect_conflict(draft("hypothesis.reopened", "h-9", {{"reason", "r"}}, "ada"),
                  "hypothesis.reopened h-9: no hypothesis h-9");
  EXPECT_EQ(raw("UPDATE hypothesis SET state = 'reopened'"),
            "only a person reopens a hypothesis, not the cycle and not a policy");
  EXPECT_EQ(raw("UPDATE hypothesis SET state = 'live'"), "a hypothesis ends by its verdict alone");

  EXPECT_EQ(say(reopen("ada", "new driver")), "");
  EXPECT_EQ(ledger_->hypothesis("h-1")->state, "reopened");
  EXPECT_FALSE((*ledger_->holder_of_key("key1")));
  expect_conflict(reopen("ada", "again"),
                  "hypothesis.reopened h-1: a reopened hypothesis is final: propose it under a new"
                  " id");
  EXPECT_EQ(say({proposed("h-2", "key1"), registered("x-2", "h-2")}), "");
  expect_conflict(draft("hypothesis.reopened", "h-2", {{"reason", "r"}}, "ada"),
                  "hypothesis.reopened h-2: only what blocks its key can be reopened");
}

// 2. Runs.

TEST_F(InvariantTest, ARunIsReservedBeforeItIsSubmitted) {
  begin_experiment();
  expect_conflict(submitted("r-1", "w-1"), "run.submitted r-1: no reserved run r-1");
  EXPECT_EQ(raw("INSERT INTO run(reservation,family,experiment,purpose,idx,variant_second,cpus,"
                "state,worker_run_id,reserved,at_ns,request)"
                " VALUES ('r-1','f','x-1','compare',0,0,'[]','submitted','w-1','{}',0,'')"),
            "a run must be reserved before it is submitted");
  ASSERT_EQ(say({reserved("r-1", "x-1", 0), reserved("r-2", "x-1", 1)}), "");
  expect_conflict(reserved("r-1", "x-1", 2), "run.reserved r-1: this run was reserved before");
  expect_conflict(reserved("r-3", "x-1", 1),
                  "run.reserved r-3: this index was drawn before for the same purpose");
  ASSERT_EQ(say(submitted("r-1", "w-1")), "");
  expect_conflict(submitted("r-1", "w-2"), "run.submitted r-1: the run was submitted before");
  expect_conflict(submitted("r-2", "w-1"), "run.submitted r-2: another run has this worker_run_id");
  EXPECT_EQ(raw("UPDATE OR REPLACE run SET state = 'submitted', worker_run_id = 'w-1'"
                " WHERE reservation = 'r-2'"),
            "another run has this worker_run_id");
  EXPECT_EQ(raw("UPDATE run SET state = 'reserved', worker_run_id = 'w-1' WHERE idx = 0"),
            "a run goes from reserved to submitted to collected or void");
  EXPECT_EQ(raw("UPDATE run SET state = 'submitted' WHERE idx = 1"),
            "raw: CHECK constraint failed: state <> 'submitted' OR worker_run_id IS NOT NULL");
  EXPECT_EQ(raw("UPDATE run SET idx = 7"), "what a run was reserved for never changes");
  EXPECT_EQ(raw("DELETE FROM run"), "runs are for ever");
}

TEST_F(InvariantTest, CollectedAndVoidAreFinal) {
  begin_experiment();
  ASSERT_EQ(say({reserved("r-1", "x-1", 0), submitted("r-1", "w-1"), collected("r-1", 9),
                 reserved("r-2", "x-1", 1), voided("r-2", 0),       // Never submitted.
                 reserved("r-3", "x-1", 2), collected("r-3", 8)}),  // Adopted.
            "");
  for (const std::string run : {"r-1", "r-2", "r-3"}) {
    const std::string final = " " + run + ": a run that was collected or voided is final";
    expect_conflict(submitted(run, "w-9"), "run.submitted" + final);
    expect_conflict(collected(run, 1), "run.collected" + final);
    expect_conflict(voided(run, 1), "run.voided" + final);
  }
  EXPECT_EQ(raw("UPDATE run SET spent = '{}'"), "a run that was collected or voided is final");
}

// 3. Experiments and verdicts.

TEST_F(InvariantTest, AnExperimentNeedsALiveHypothesis) {
  end_experiment(VerdictKind::kInconclusive);
  const std::string needs = "an experiment needs a live hypothesis of its family";
  expect_conflict(registered("x-2", "h-1"),
                  "experiment.registered x-2: the hypothesis was put to the test before");
  expect_conflict(registered("x-2", "h-9"), "experiment.registered x-2: " + needs);
  ASSERT_EQ(say({proposed("h-2", "key2"), judged("h-2", "", VerdictKind::kInvalid)}), "");
  expect_conflict(registered("x-2", "h-2"), "experiment.registered x-2: " + needs);
  EXPECT_EQ(raw("INSERT INTO experiment VALUES (99,'x-2','h-2','f','c1','live','compare',0,NULL,"
                "'{}',0)"),
            needs);
  EXPECT_EQ(raw("INSERT INTO experiment VALUES (99,'x-2','h-2','f','c1','closed','compare',0,NULL,"
                "'{}',0)"),
            "an experiment starts live");
}

TEST_F(InvariantTest, NothingHappensToAClosedExperiment) {
  end_experiment(VerdictKind::kNoEffect);
  expect_conflict(reserved("r-1", "x-1", 0),
                  "run.reserved r-1: a run is reserved for a live experiment of its family, or for"
                  " none");
  expect_conflict(draft("experiment.staged", "x-1", {{"stage", "refute"}}),
                  "experiment.staged x-1: the experiment is closed");
  expect_conflict(gate_opened("x-1", "h-1"),
                  "gate.opened x-1: only a live experiment comes to the gate");
  EXPECT_EQ(raw("UPDATE experiment SET state = 'live'"), "the experiment is closed");
  EXPECT_EQ(raw("INSERT INTO run(reservation,family,experiment,purpose,idx,variant_second,cpus,"
                "state,reserved,at_ns,request)"
                " VALUES ('r-1','f','x-1','compare',0,0,'[]','reserved','{}',0,'')"),
            "a run is reserved for a live experiment of its family, or for none");
}

TEST_F(InvariantTest, OneVerdictForEachHypothesisAndExperiment) {
  begin_experiment();
  expect_conflict(judged("h-1", "", VerdictKind::kAborted),
                  "verdict.recorded h-1: the verdict must name the live experiment of its"
                  " hypothesis, or none");
  expect_conflict(judged("h-9", "", VerdictKind::kAborted),
                  "verdict.recorded h-9: a verdict needs a live hypothesis of its family");
  EXPECT_EQ(raw("UPDATE experiment SET state = 'closed'"),
            "an experiment is closed by its verdict alone");
  ASSERT_EQ(say({proposed("h-2", "key2"), judged("h-1", "x-1", VerdictKind::kHarmful)}), "");
  EXPECT_EQ(ledger_->experiment("x-1")->state, "closed");
  EXPECT_EQ(ledger_->hypothesis("h-1")->state, "harmful");
  expect_conflict(judged("h-1", "x-1", VerdictKind::kNoEffect),
                  "verdict.recorded h-1: the hypothesis has its verdict");
  expect_conflict(judged("h-2", "x-1", VerdictKind::kNoEffect),
                  "verdict.recorded h-2: the experiment has its verdict");
  EXPECT_EQ(raw("INSERT OR REPLACE INTO verdict VALUES (99,'h-1','x-1','f','no effect',0,'{}')"),
            "the hypothesis has its verdict");
  EXPECT_EQ(raw("UPDATE verdict SET kind = 'promoted'"), "a verdict never changes");
  EXPECT_EQ(raw("DELETE FROM verdict"), "verdicts are for ever");
}

// 4. The gate.

TEST_F(InvariantTest, NothingIsPromotedWithoutANameAndAReason) {
  begin_experiment();
  const std::string needs = "nothing is promoted without an approved gate decision";
  const Draft promotion = judged("h-1", "x-1", VerdictKind::kPromoted);
  expect_conflict(promotion, "verdict.recorded h-1: " + needs);
  expect_conflict(decided("x-1", true, "ada", "fine"), "gate.decided x-1: no gate for x-1");
  ASSERT_EQ(say(gate_opened("x-1", "h-1")), "");
  expect_conflict(promotion, "verdict.recorded h-1: " + needs);
  EXPECT_EQ(raw("INSERT INTO verdict VALUES (99,'h-1','x-1','f','promoted',0,'{}')"), needs);
  const std::string who = "a gate is decided by a person or by a policy under its own name";
  expect_conflict(decided("x-1", true, "cycle", "fine"), "gate.decided x-1: " + who);
  expect_conflict(decided("x-1", true, "policy:", "fine"), "gate.decided x-1: " + who);
  expect_conflict(decided("x-1", true, "ada", "\t"),
                  "gate.decided x-1: a gate decision needs a reason");
  Draft forged = decided("x-1", true, "ada", "fine");
  forged.actor = "eve";
  expect_refused(
      forged, Error::Kind::kBadInput,
      "gate.decided x-1: the decision's actor \"ada\" differs from the event's actor \"eve\"");
  EXPECT_EQ(raw("UPDATE gate SET state = 'approved'"), who);
  EXPECT_EQ(raw("UPDATE gate SET state = 'approved', actor = 'ada'"),
            "a gate decision needs a reason");
  EXPECT_EQ(raw("INSERT OR REPLACE INTO gate VALUES (99,'x-1','approved','ada','ok',0,'{}')"),
            "a gate opens undecided");

  ASSERT_EQ(say(decided("x-1", false, "ada", "too risky")), "");
  expect_conflict(promotion, "verdict.recorded h-1: " + needs);
  expect_conflict(decided("x-1", true, "ada", "after all"),
                  "gate.decided x-1: a gate decision is final");
  EXPECT_EQ(raw("UPDATE gate SET state = 'approved'"), "a gate decision is final");
  EXPECT_EQ(raw("DELETE FROM gate"), "gate decisions are for ever");
  EXPECT_EQ(say(judged("h-1", "x-1", VerdictKind::kDeclined)), "");
}

TEST_F(InvariantTest, AVerdictWithdrawsAPendingGate) {
  begin_experiment();
  ASSERT_EQ(say({gate_opened("x-1", "h-1"), judged("h-1", "x-1", VerdictKind::kAborted)}), "");
  EXPECT_TRUE((*ledger_->gate("pending")).empty());
  EXPECT_EQ((*ledger_->gate("")).at(0).state, "withdrawn");
  expect_conflict(decided("x-1", true, "ada", "late"),
                  "gate.decided x-1: a gate decision is final");
}

const Json kNone = Json::array();
const Json kBatch = {{"args", {{"--batch", "32"}}}};

TEST_F(InvariantTest, OnlyAPromotedChangeMovesTheBaseline) {
  begin_experiment();
  const Draft move = moved("h-1", kNone, kBatch);
  expect_conflict(move, "baseline.moved f: h-1 is live: only a promoted change moves the baseline");
  ASSERT_EQ(say({gate_opened("x-1", "h-1"), decided("x-1", true, "ada", "fine"),
                 judged("h-1", "x-1", VerdictKind::kPromoted), move}),
            "");
  const Family family = *ledger_->family("f");
  EXPECT_EQ(family.stack, std::vector<std::string>{"h-1"});
  EXPECT_EQ(family.baseline.args.at("--batch"), "32");

  const auto back = [](std::string who, std::string why) {
    return rolled_back("h-1", {"h-1"}, Json::object(), who, why);
  };
  expect_conflict(back("cycle", "slow"),
                  "baseline.rolled_back f: only a person may roll a change back, or a policy after "
                  "a canary proposed it");
  expect_conflict(back("ada", " "), "baseline.rolled_back f: a rollback needs a reason");
  ASSERT_EQ(say(back("ada", "loss went up")), "");
  EXPECT_TRUE(ledger_->family("f")->stack.empty());
  EXPECT_TRUE(model::is_empty(ledger_->family("f")->baseline));
  EXPECT_EQ(ledger_->hypothesis("h-1")->state, "promoted");  // Its key stays taken.
  expect_conflict(rolled_back("h-1", kNone, Json::object(), "ada", "again"),
                  "baseline.rolled_back f: h-1 is not in the stack");
}

// Two hypotheses that are promoted, the first of them in the stack.
class StackTest : public InvariantTest {
 protected:
  void promote_two() {
    begin_experiment();
    model::Hypothesis other;
    other.id = "h-2";
    other.family = "f";
    other.key = "key2";
    other.change.env["FAST"] = "1";
    ASSERT_EQ(say({draft("hypothesis.proposed", "h-2", model::encode(other)),
                   registered("x-2", "h-2"), gate_opened("x-1", "h-1"), gate_opened("x-2", "h-2"),
                   decided("x-1", true, "ada", "fine"), decided("x-2", true, "eve", "fine"),
                   judged("h-1", "x-1", VerdictKind::kPromoted),
                   judged("h-2", "x-2", VerdictKind::kPromoted), moved("h-1", kNone, kBatch)}),
              "");
  }
  const Json both_ = {{"args", {{"--batch", "32"}}}, {"env", {{"FAST", "1"}}}};
};

TEST_F(StackTest, TheSecondOfTwoWhoSawTheSameStackGetsAConflict) {
  promote_two();
  const std::string moved_on =
      ": the spec or the stack has changed since this decision, and the stack is now [\"h-1\"]: "
      "check again and decide anew";
  expect_conflict(moved("h-2", kNone, {{"env", {{"FAST", "1"}}}}), "baseline.moved f" + moved_on);
  ASSERT_EQ(say(moved("h-2", {"h-1"}, both_)), "");
  // The rollback of h-1 was decided before h-2 came.
  expect_conflict(rolled_back("h-1", {"h-1"}, Json::object(), "ada", "slow"),
                  "baseline.rolled_back f: the spec or the stack has changed since this decision, "
                  "and the stack is now [\"h-1\",\"h-2\"]: check again and decide anew");
  EXPECT_EQ(ledger_->family("f")->stack, (std::vector<std::string>{"h-1", "h-2"}));
  EXPECT_EQ(ledger_->family("f")->baseline.env.at("FAST"), "1");
  ASSERT_EQ(say(rolled_back("h-1", {"h-1", "h-2"}, {{"env", {{"FAST", "1"}}}}, "ada", "slow")), "");
  EXPECT_TRUE(ledger_->family("f")->baseline.args.empty());
  expect_sound();
}

TEST_F(StackTest, ABaselineThatTheStackDoesNotComeToIsRefused) {
  promote_two();
  expect_conflict(moved("h-2", {"h-1"}, {{"env", {{"FAST", "1"}}}}),
                  "baseline.moved f: /change: differs from the combined stack [\"h-1\",\"h-2\"]");
}

TEST_F(StackTest, ANewSpecIsNoLongerWhatWasSeen) {
  promote_two();
  Draft adopted = family_adopted("f");
  adopted.payload["command"] = {"train", "--batch", "8"};
  ASSERT_EQ(say(adopted), "");
  say(moved("h-2", {"h-1"}, both_));
  EXPECT_EQ(kind_, Error::Kind::kConflict);
}

TEST_F(StackTest, WhatIsDecidedSaysWhatWasSeen) {
  begin_experiment();
  ASSERT_EQ(say(gate_opened("x-1", "h-1")), "");
  Draft blind = decided("x-1", true, "ada", "fine");
  blind.payload.erase("packet");
  expect_refused(blind, Error::Kind::kBadInput, "gate.decided x-1: /packet: must be text");
  Draft other = decided("x-1", true, "ada", "fine");
  other.payload["packet"] = "0000000000000000";
  say(other);
  EXPECT_EQ(kind_, Error::Kind::kConflict);
  ASSERT_EQ(
      say({decided("x-1", true, "ada", "fine"), judged("h-1", "x-1", VerdictKind::kPromoted)}), "");
  Draft move = moved("h-1", kNone, kBatch);
  move.payload.erase("seen");
  expect_refused(move, Error::Kind::kBadInput, "baseline.moved f: /seen: must be text");
}

}  // namespace
}  // namespace amdahl::ledger::sqlite
