#include <fmt/core.h>
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
            "run.reserved r-3: 10 accelerator_s would exceed the budget: 9.5 of 30 left (20.5 "
            "committed, 0 spent); raise budget.accelerator_hours in the configuration");
  EXPECT_EQ(kind_, Error::Kind::kBudget);
  EXPECT_EQ(raw("INSERT INTO run(reservation,family,experiment,purpose,idx,variant_second,cpus,"
                "state,reserved,at_ns,request)"
                " VALUES ('r-3','f','x-1','compare',2,0,'[]','reserved',"
                "'{\"accelerator_s\":10000000}',0,'')"),
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
  EXPECT_EQ(budget().limit, std::nullopt);
  EXPECT_EQ(budget().spent, 0.1);
  ASSERT_EQ(say(limit(1)), "");
  EXPECT_EQ(budget().limit, 1);
  EXPECT_EQ(budget().spent, 0.1);
}

// Whatever a reservation names is metered like accelerator time.
TEST_F(BudgetTest, EveryResourceThatIsReservedIsMetered) {
  const auto with = [](Draft draft, const char* field, Json charges) {
    draft.payload[field] = std::move(charges);
    return draft;
  };
  begin_experiment();
  ASSERT_EQ(say({limit(100), draft("budget.set", "usd", {{"limit", 5}}),
                 draft("budget.set", "tokens", {{"limit", 1000}})}),
            "");
  const Draft first = with(reserved("r-1", "x-1", 0), "reserved", {{"usd", 4.5}, {"tokens", 600}});
  ASSERT_EQ(say(first), "");
  EXPECT_EQ(say(with(reserved("r-2", "x-1", 1), "reserved", {{"usd", 0.75}})),
            "run.reserved r-2: 0.75 usd would exceed the budget: 0.5 of 5 left (4.5 committed, 0 "
            "spent); raise budget.usd in the configuration");
  EXPECT_EQ(kind_, Error::Kind::kBudget);
  EXPECT_EQ(say(with(reserved("r-2", "x-1", 1), "reserved", {{"tokens", 401}})),
            "run.reserved r-2: 401 tokens would exceed the budget: 400 of 1000 left (600 "
            "committed, 0 spent); raise budget.tokens in the configuration");
  EXPECT_EQ(raw("INSERT INTO run(reservation,family,experiment,purpose,idx,variant_second,cpus,"
                "state,reserved,at_ns,request)"
                " VALUES ('r-2','f','x-1','compare',1,0,'[]','reserved','{\"usd\":600000}',0,'')"),
            "raw: CHECK constraint failed: allowed IS NULL OR committed + spent <= allowed");

  // Less money than was reserved, more tokens, and something that nobody had reserved.
  ASSERT_EQ(say(with(collected("r-1", 4), "spent", {{"usd", 1.25}, {"tokens", 650}, {"kwh", 2}})),
            "");
  const auto budgets = *ledger_->budgets();
  ASSERT_EQ(budgets.size(), 4U);  // By name: accelerator_s, kwh, tokens, usd.
  EXPECT_EQ(budgets[1].limit, std::nullopt);
  EXPECT_EQ(budgets[1].overrun, 2);
  EXPECT_EQ(budgets[2].spent, 600);
  EXPECT_EQ(budgets[2].overrun, 50);
  EXPECT_EQ(budgets[3].committed, 0);
  EXPECT_EQ(budgets[3].spent, 1.25);
  EXPECT_EQ(ledger_->spent_by_family("usd")->at("f"), 1.25);
  EXPECT_EQ(ledger_->spent_by_family("tokens")->at("f"), 650);
  EXPECT_EQ(ledger_->spent_by_family()->at("f"), 4);
  expect_sound();
}

TEST_F(BudgetTest, WhatCannotBeChargedIsRefused) {
  begin_experiment();
  const auto reserving = [](Json charges) {
    Draft draft = reserved("r-1", "x-1", 0);
    draft.payload["reserved"] = std::move(charges);
    return draft;
  };
  EXPECT_EQ(say(reserving({{"usd", "much"}})), "run.reserved r-1: /reserved/usd: must be a number");
  EXPECT_EQ(say(reserving({{"usd", -1}})),
            "run.reserved r-1: /reserved/usd: an amount must be between 0 and 9,000,000,000,000, "
            "but is -1");
  EXPECT_EQ(say(reserving({{"accelerator_s", 1}})),
            "run.reserved r-1: /reserved/accelerator_s: duplicates reserved_accelerator_s");
  EXPECT_EQ(say(reserving({{"", 1}})), "run.reserved r-1: /reserved/: a resource needs a name");
  EXPECT_EQ(say(reserving({1})), "run.reserved r-1: /reserved: must be an object");
  EXPECT_EQ(raw("INSERT INTO run(reservation,family,experiment,purpose,idx,variant_second,cpus,"
                "state,reserved,at_ns,request)"
                " VALUES ('r-1','f','x-1','compare',0,0,'[]','reserved','{\"usd\":-1}',0,'')"),
            "what a run reserves is whole millionths of named resources");
  EXPECT_EQ(raw("INSERT INTO run(reservation,family,experiment,purpose,idx,variant_second,cpus,"
                "state,reserved,at_ns,request)"
                " VALUES ('r-1','f','x-1','compare',0,0,'[]','reserved','[]',0,'')"),
            "raw: CHECK constraint failed: json_type(reserved) = 'object'");
  expect_sound();
}

TEST_F(BudgetTest, ALimitCanBeTakenAway) {
  begin_experiment();
  ASSERT_EQ(say({limit(10), reserved("r-1", "x-1", 0)}), "");
  EXPECT_NE(say(reserved("r-2", "x-1", 1)), "");
  ASSERT_EQ(
      say({draft("budget.set", "accelerator_s", {{"limit", nullptr}}), reserved("r-2", "x-1", 1)}),
      "");
  EXPECT_EQ(budget().limit, std::nullopt);
  EXPECT_EQ(budget().committed, 20);
  EXPECT_EQ(say(draft("budget.set", "accelerator_s", {})),
            "budget.set accelerator_s: /limit: must be a number");
  EXPECT_EQ(say(limit(5)),
            "budget.set accelerator_s: the limit cannot be 5: 20 is committed and 0 spent");
  expect_sound();
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
                "'{}',0)"),
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
