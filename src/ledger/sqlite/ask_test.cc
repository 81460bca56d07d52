#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ledger/sqlite/test_kit.h"

namespace amdahl::ledger::sqlite {
namespace {

class AskTest : public LedgerTest {
 protected:
  static Draft reserve(const std::string& id, int tier, double tokens, double usd,
                       const std::string& about = "p-1") {
    return draft("ask.reserved", id,
                 {{"family", "f"},
                  {"about", about},
                  {"role", "propose"},
                  {"tier", tier},
                  {"reserved", {{"tokens", tokens}, {"usd", usd}}},
                  {"request", {{"id", id}}}});
  }
  static Draft settle(const std::string& id, const std::string& outcome, double tokens,
                      double usd) {
    return draft("ask.settled", id,
                 {{"outcome", outcome}, {"spent", {{"tokens", tokens}, {"usd", usd}}}});
  }
  Budget budget(const std::string& resource) {
    for (const Budget& row : *ledger_->budgets()) {
      if (row.resource == resource) return row;
    }
    return {};
  }
};

TEST_F(AskTest, TokensAndMoneyAreCommittedBeforeAndSettledAfter) {
  ASSERT_EQ(say({draft("budget.set", "tokens", {{"limit", 100000}}),
                 draft("budget.set", "usd", {{"limit", 1}}), reserve("q-1", 0, 60000, 0.5)}),
            "");
  EXPECT_EQ(budget("tokens").committed, 60000);
  EXPECT_EQ(budget("usd").committed, 0.5);
  EXPECT_EQ(say(reserve("q-2", 1, 60000, 0.4)),
            "ask.reserved q-2: 60000 tokens would exceed the budget: 40000 of 100000 left (60000 "
            "committed, 0 spent); raise budget.tokens in the configuration");
  EXPECT_EQ(kind_, Error::Kind::kBudget);
  ASSERT_EQ(say(settle("q-1", "answered", 2100, 0.005)), "");
  EXPECT_EQ(budget("tokens").committed, 0);
  EXPECT_EQ(budget("tokens").spent, 2100);
  EXPECT_EQ(budget("usd").spent, 0.005);
  EXPECT_EQ((*ledger_->spent_by_family("tokens")).at("f"), 2100);
  ASSERT_EQ(say(reserve("q-2", 1, 60000, 0.4)), "");
  // More than was reserved is remembered apart, and still counts.
  ASSERT_EQ(say(settle("q-2", "timeout", 70000, 0.4)), "");
  EXPECT_EQ(budget("tokens").spent, 62100);
  EXPECT_EQ(budget("tokens").overrun, 10000);
  expect_sound();
}

TEST_F(AskTest, AQuestionIsAskedAndPaidForOnce) {
  ASSERT_EQ(say(reserve("q-1", 0, 10, 0)), "");
  EXPECT_EQ(say(reserve("q-1", 1, 10, 0)), "ask.reserved q-1: this question was asked before");
  EXPECT_EQ(say(reserve("q-9", 0, 10, 0)), "ask.reserved q-9: this question was asked before");
  EXPECT_EQ(kind_, Error::Kind::kConflict);
  EXPECT_EQ(say(reserve("q-3", 0, 10, 0, "p-2")), "");
  EXPECT_EQ(say(settle("q-8", "answered", 1, 0)), "ask.settled q-8: no question q-8");
  EXPECT_EQ(say(settle("q-1", "", 1, 0)), "ask.settled q-1: /outcome: must not be empty");
  ASSERT_EQ(say(settle("q-1", "answered", 1, 0)), "");
  EXPECT_EQ(say(settle("q-1", "answered", 1, 0)),
            "ask.settled q-1: a question that was settled is final");
  EXPECT_EQ(raw("DELETE FROM ask"), "questions are for ever");
  const auto all = *ledger_->asks("f", "");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].outcome, "answered");
  EXPECT_EQ(all[0].spent.at("tokens"), 1);
  EXPECT_EQ(all[1].id, "q-3");
  EXPECT_EQ(all[1].about, "p-2");
  EXPECT_EQ(all[1].request, "{\"id\":\"q-3\"}");
  EXPECT_EQ((*ledger_->asks("", "reserved")).size(), 1U);
  EXPECT_EQ((*ledger_->tallies()).at("ask.settled"), 1);
  expect_sound();
}

}  // namespace
}  // namespace amdahl::ledger::sqlite
