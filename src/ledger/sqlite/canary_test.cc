#include "model/canary.h"

#include <gtest/gtest.h>

#include "ledger/sqlite/test_kit.h"

namespace amdahl::ledger::sqlite {
namespace {

using model::CanaryState;
using model::VerdictKind;

Draft opened(const std::string& hypothesis, int number = 0, int one_in = 10) {
  model::Canary canary;
  canary.hypothesis = hypothesis;
  canary.family = "f";
  canary.seed = "s";
  canary.number = number;
  canary.one_in = one_in;
  return draft("canary.opened", hypothesis, model::encode(canary), "ada");
}

Draft closed(const std::string& hypothesis, CanaryState outcome, const std::string& because,
             const std::string& actor = "cycle") {
  model::CanaryResult result;
  result.hypothesis = hypothesis;
  result.outcome = outcome;
  result.because = because;
  result.runs = 41;
  return draft("canary.closed", hypothesis, model::encode(result), actor);
}

Draft baseline_moved() { return moved("h-1", Json::array(), {{"args", {{"--batch", "32"}}}}); }

Draft rollback_of(const std::string& who) {
  return rolled_back("h-1", {"h-1"}, Json::object(), who, "slow");
}

class CanaryLedgerTest : public LedgerTest {
 protected:
  // h-1 is promoted and its canary open.
  void open_canary() {
    end_experiment(VerdictKind::kPromoted);
    ASSERT_EQ(say({baseline_moved(), opened("h-1")}), "");
  }
  CanaryRow row() { return (*ledger_->canaries("f")).at(0); }
};

TEST_F(CanaryLedgerTest, OpensWithAPromotionAndClosesOnce) {
  open_canary();
  EXPECT_EQ(row().state, CanaryState::kOpen);
  EXPECT_EQ(row().canary.one_in, 10);
  EXPECT_EQ((*ledger_->tallies()).at("canary.open"), 1);
  ASSERT_EQ(say(closed("h-1", CanaryState::kKept, "41 runs")), "");
  EXPECT_EQ(row().state, CanaryState::kKept);
  EXPECT_EQ(row().reason, "41 runs");
  EXPECT_EQ(row().result->runs, 41);
  EXPECT_TRUE((*ledger_->canaries_in(CanaryState::kOpen)).empty());
  EXPECT_EQ((*ledger_->tallies()).at("canary.kept"), 1);
  EXPECT_EQ(say(closed("h-1", CanaryState::kKept, "again")),
            "canary.closed h-1: the canary is closed");
  expect_sound();
}

TEST_F(CanaryLedgerTest, OnlyAPromotedChangeHasOne) {
  begin_experiment();
  EXPECT_EQ(say(opened("h-1")),
            "canary.opened h-1: only a promoted hypothesis of the family has a"
            " canary");
  EXPECT_EQ(say(opened("h-1", 0, 1)), "canary.opened h-1: /one_in: must be at least 2, but is 1");
  EXPECT_EQ(say(closed("h-1", CanaryState::kKept, "x")), "canary.closed h-1: no canary of h-1");
}

TEST_F(CanaryLedgerTest, IsOpenedOnce) {
  open_canary();
  EXPECT_EQ(say(opened("h-1", 1)), "canary.opened h-1: the hypothesis has its canary");
}

TEST_F(CanaryLedgerTest, NeedsAReasonAndAnOutcome) {
  open_canary();
  EXPECT_EQ(say(closed("h-1", CanaryState::kKept, " ")),
            "canary.closed h-1: a canary is closed with a reason");
  EXPECT_EQ(say(closed("h-1", CanaryState::kOpen, "x")),
            "canary.closed h-1: /outcome: a canary cannot close as \"open\"");
  EXPECT_EQ(say(closed("h-1", CanaryState::kRolledBack, "x")),
            "canary.closed h-1: /outcome: a canary cannot close as \"rolled back\"");
}

TEST_F(CanaryLedgerTest, OnlyAPersonKeepsWhatItProposesToRollBack) {
  open_canary();
  ASSERT_EQ(say(closed("h-1", CanaryState::kRollbackProposed, "dearer")), "");
  for (const char* actor : {"cycle", "policy:demo"}) {
    EXPECT_EQ(say(closed("h-1", CanaryState::kKept, "fine", actor)),
              "canary.closed h-1: only a person keeps what a canary proposes to"
              " roll back");
  }
  ASSERT_EQ(say(closed("h-1", CanaryState::kKept, "it was the disk", "ada")), "");
  EXPECT_EQ(row().state, CanaryState::kKept);
  EXPECT_EQ(row().actor, "ada");
  expect_sound();
}

TEST_F(CanaryLedgerTest, APolicyRollsBackOnlyWhatACanaryProposesTo) {
  open_canary();
  const std::string refused =
      "baseline.rolled_back f: only a person may roll a change back, or a policy after a canary "
      "proposed it";
  EXPECT_EQ(say(rollback_of("policy:demo")), refused);
  ASSERT_EQ(say(closed("h-1", CanaryState::kRollbackProposed, "dearer")), "");
  EXPECT_EQ(say(rollback_of("cycle")), refused);
  ASSERT_EQ(say(rollback_of("policy:demo")), "");
  EXPECT_EQ(row().state, CanaryState::kRolledBack);
  EXPECT_EQ(row().actor, "policy:demo");
  EXPECT_EQ(row().result->because, "dearer") << "what was seen stays";
  EXPECT_EQ(say(closed("h-1", CanaryState::kKept, "no, wait", "ada")),
            "canary.closed h-1: the canary is closed");
  expect_sound();
}

TEST_F(CanaryLedgerTest, WhatTheCycleKeptMayRaiseAnAlarmLaterAndWhatAPersonKeptMayNot) {
  open_canary();
  ASSERT_EQ(say(closed("h-1", CanaryState::kKept, "fine")), "");
  ASSERT_EQ(say(closed("h-1", CanaryState::kRollbackProposed, "dearer since May")), "");
  EXPECT_EQ(row().state, CanaryState::kRollbackProposed);
  ASSERT_EQ(say(closed("h-1", CanaryState::kKept, "the data grew", "ada")), "");
  EXPECT_EQ(say(closed("h-1", CanaryState::kRollbackProposed, "dearer")),
            "canary.closed h-1: the canary is closed");
  expect_sound();
}

TEST_F(CanaryLedgerTest, ARollbackByAPersonEndsTheWatch) {
  open_canary();
  ASSERT_EQ(say(rollback_of("ada")), "");
  EXPECT_EQ(row().state, CanaryState::kRolledBack);
  EXPECT_EQ(row().reason, "slow");
  EXPECT_EQ(row().result, std::nullopt);
  expect_sound();
}

TEST_F(CanaryLedgerTest, OtherProgramsAreHeldToItToo) {
  open_canary();
  EXPECT_NE(raw("UPDATE canary SET body = '{}'").find("the terms of a canary never change"),
            std::string::npos);
  EXPECT_NE(raw("DELETE FROM canary").find("canaries are for ever"), std::string::npos);
  EXPECT_NE(raw("UPDATE canary SET state = 'rolled back', reason = 'x'")
                .find("the change is still in the stack"),
            std::string::npos);
}

TEST_F(CanaryLedgerTest, AnOlderFileGetsTheTableByReplay) {
  open_canary();
  ledger_.reset();
  ASSERT_EQ(raw("DROP TABLE canary; PRAGMA user_version = 3"), "");
  open();
  EXPECT_EQ(row().canary.hypothesis, "h-1");
  EXPECT_EQ(ledger_->schema_version(), kSchemaVersion);
  expect_sound();
}

}  // namespace
}  // namespace amdahl::ledger::sqlite
