#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ledger/sqlite/test_kit.h"

namespace amdahl::ledger::sqlite {
namespace {

class BudgetTest : public LedgerTest {
 protected:
  Budget budget() {
    const auto budgets = *ledger_->budgets();
    return budgets.empty() ? Budget{} : budgets.front();
  }
  static Draft limit(double amount) {
    return draft("budget.set", "accelerator_s", {{"limit", amount}});
  }
};

TEST_F(BudgetTest, CommittedPlusSpentNeverExceedsTheLimit) {
  begin_experiment();
  ASSERT_EQ(say({limit(30), reserved("r-1", "x-1", 0, 10.5), reserved("r-2", "x-1", 1, 10)}), "");
  EXPECT_EQ(say(reserved("r-3", "x-1", 2, 10)),
            "run.reserved r-3: 10 accelerator_s would exceed the budget: 9.5 of 30 left"
            " (20.5 committed, 0 spent)");
  EXPECT_EQ(kind_, Error::Kind::kBudget);
  EXPECT_EQ(raw("INSERT INTO run(reservation,family,experiment,purpose,idx,variant_second,cpus,"
                "state,reserved,at_ns,request)"
                " VALUES ('r-3','f','x-1','compare',2,0,'[]','reserved',10000000,0,'')"),
            "raw: CHECK constraint failed: allowed IS NULL OR committed + spent <= allowed");
  EXPECT_EQ(raw("UPDATE budget SET spent = 10000000"),
            "raw: CHECK constraint failed: allowed IS NULL OR committed + spent <= allowed");
  EXPECT_EQ(raw("DELETE FROM budget"), "budgets are for ever: set another limit");

  // A collected run gives back what it did not use.
  ASSERT_EQ(say({collected("r-1", 4.25), reserved("r-3", "x-1", 2, 10)}), "");
  EXPECT_EQ(budget().committed, 20);
  EXPECT_EQ(budget().spent, 4.25);
  EXPECT_EQ(say(limit(24)),
            "budget.set accelerator_s: the limit cannot be 24: 20 is committed and 4.25 spent");
  EXPECT_EQ(kind_, Error::Kind::kBudget);
  EXPECT_EQ(say(limit(24.25)), "");
  expect_sound();
}

TEST_F(BudgetTest, WhatExceedsAReservationIsRememberedApart) {
  begin_experiment();
  ASSERT_EQ(say({limit(20), reserved("r-1", "x-1", 0, 10), reserved("r-2", "x-1", 1, 10),
                 collected("r-1", 12.5), voided("r-2", 3)}),
            "");
  EXPECT_EQ(budget().committed, 0);
  EXPECT_EQ(budget().spent, 13);
  EXPECT_EQ(budget().overrun, 2.5);
  EXPECT_EQ((*ledger_->spent_by_family()).at("f"), 15.5);
  expect_sound();
}

TEST_F(BudgetTest, WithoutALimitEverythingIsAllowedAndStillCounted) {
  begin_experiment();
  ASSERT_EQ(say({reserved("r-1", "x-1", 0, 1e9), collected("r-1", 0.1)}), "");
  EXPECT_TRUE((*ledger_->budgets()).empty());
  ASSERT_EQ(say(limit(1)), "");
  EXPECT_EQ(budget().spent, 0.1);
}

TEST_F(BudgetTest, ManySmallSumsComeBackToNothing) {
  begin_experiment();
  ASSERT_EQ(say(limit(1)), "");
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(say(reserved(fmt::format("r-{}", i), "x-1", i, 0.1)), "");
  }
  EXPECT_EQ(budget().committed, 1);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(say(voided(fmt::format("r-{}", i), 0)), "");
  EXPECT_EQ(budget().committed, 0);
}

TEST_F(BudgetTest, ACampaignHoldsKExperiments) {
  begin_experiment(2);
  ASSERT_EQ(say({proposed("h-2", "key2"), registered("x-2", "h-2"), proposed("h-3", "key3")}), "");
  EXPECT_EQ(say(registered("x-3", "h-3")),
            "experiment.registered x-3: campaign c1 is full (2 of 2): open another");
  EXPECT_EQ(kind_, Error::Kind::kConflict);
  EXPECT_EQ(raw("INSERT INTO experiment VALUES (99,'x-3','h-3','f','c1','live','compare',0,NULL,"
                "'{}')"),
            "raw: CHECK constraint failed: registered BETWEEN 0 AND k");
  EXPECT_EQ(say(registered("x-3", "h-3", "c9")),
            "experiment.registered x-3: an experiment is registered in the open campaign");

  ASSERT_EQ(say({campaign_opened("c2", 2), registered("x-3", "h-3", "c2")}), "");
  EXPECT_EQ((*ledger_->campaign())->id, "c2");
  EXPECT_EQ((*ledger_->campaign())->registered, 1);
  EXPECT_EQ(say(campaign_opened("c1", 9)), "campaign.opened c1: this campaign was opened before");
  EXPECT_EQ(raw("UPDATE campaign SET open = 1"), "raw: UNIQUE constraint failed: campaign.open");

  // D belongs to the campaign the experiment was registered in.
  ASSERT_EQ(say({gate_opened("x-1", "h-1"), decided("x-1", true, "ada", "fine"),
                 judged("h-1", "x-1", model::VerdictKind::kPromoted)}),
            "");
  EXPECT_EQ((*ledger_->campaign())->promoted, 0);
  ASSERT_EQ(say({gate_opened("x-3", "h-3"), decided("x-3", true, "ada", "fine"),
                 judged("h-3", "x-3", model::VerdictKind::kPromoted)}),
            "");
  EXPECT_EQ((*ledger_->campaign())->promoted, 1);
  expect_sound();
}

}  // namespace
}  // namespace amdahl::ledger::sqlite
