#include "app/budget.h"

#include "app/test_kit.h"

namespace amdahl::app {
namespace {

class BudgetTest : public ContextTest {
 protected:
  std::optional<double> limit(const std::string& resource) {
    for (const ledger::Budget& budget : *context_.ledger->budgets()) {
      if (budget.resource == resource) return budget.limit;
    }
    return std::nullopt;
  }
  std::int64_t events() {
    const auto last = *context_.ledger->events("", 0, 1);
    return last.empty() ? 0 : last.front().seq;
  }
  ledger::Draft reserve(const std::string& id, int index, double usd) {
    return {"run.reserved",
            "cycle",
            id,
            {{"family", "eval"},
             {"purpose", "same"},
             {"index", index},
             {"variant_second", false},
             {"reserved_accelerator_s", 10},
             {"reserved", {{"usd", usd}}}}};
  }
};

TEST(Bill, HasAcceleratorsAndCpusAtTheirPrices) {
  Config config;
  config.price_accelerator_hour = 2;
  config.price_cpu_hour = 0.5;
  EXPECT_DOUBLE_EQ(bill(config, AcceleratorSeconds{5400}, std::chrono::minutes(30)).count(), 3.25);
  EXPECT_EQ(bill(config, AcceleratorSeconds{0}, Nanos{0}).count(), 0);
}

TEST_F(BudgetTest, LimitsFollowTheConfiguration) {
  ASSERT_TRUE(set_budgets(context_, 0));
  EXPECT_EQ(events(), 0);
  context_.config.budget_accelerator_hours = 0.1;
  context_.config.budget_usd = 12.5;
  ASSERT_TRUE(set_budgets(context_, 0));
  EXPECT_EQ(limit("accelerator_s"), 360);
  EXPECT_EQ(limit("usd"), 12.5);
  EXPECT_EQ(limit("tokens"), std::nullopt);
  // Nothing is written while nothing changes, also for hours that are no round number of seconds.
  context_.config.budget_accelerator_hours = 1.0 / 3;
  ASSERT_TRUE(set_budgets(context_, 0));
  const auto written = events();
  ASSERT_TRUE(set_budgets(context_, 0));
  EXPECT_EQ(events(), written);
  context_.config.budget_usd.reset();
  context_.config.budget_tokens = 1000;
  ASSERT_TRUE(set_budgets(context_, 0));
  EXPECT_EQ(limit("usd"), std::nullopt);
  EXPECT_EQ(limit("tokens"), 1000);
}

// A limit may be lowered while runs are in flight: they end, and nothing new begins.
TEST_F(BudgetTest, ALimitBelowWhatIsUsedStopsTheNextRunAndNotTheCycle) {
  adopt();
  ASSERT_EQ(say({reserve("r-1", 1, 8)}), "");
  context_.config.budget_usd = 5;
  ASSERT_TRUE(set_budgets(context_, 0));
  EXPECT_EQ(limit("usd"), 8);
  EXPECT_EQ(say({reserve("r-2", 2, 1)}),
            "run.reserved r-2: 1 usd would exceed the budget: 0 of 8 left (8 committed, 0 spent); "
            "raise budget.usd in the configuration");
  ASSERT_EQ(say({{"run.collected",
                  "cycle",
                  "r-1",
                  {{"spent_accelerator_s", 3}, {"spent", {{"usd", 4.5}}}}}}),
            "");
  ASSERT_TRUE(set_budgets(context_, 0));
  EXPECT_EQ(limit("usd"), 5);
  EXPECT_EQ(say({reserve("r-2", 2, 0.5)}), "");
}

}  // namespace
}  // namespace amdahl::app
