// The promises of the method, kept by the loop itself on a fleet whose truth we chose.
#include <cmath>

#include <gtest/gtest.h>

#include "sim/rivals.h"
#include "sim/tables.h"
#include "sim/tally.h"

namespace amdahl::sim {
namespace {

Options options_of(int size) {
  Options options;
  options.seed = 11;
  options.size = size;
  options.watch.threads = 2;
  return options;
}

const Figure& figure(const Table& table, std::size_t row, std::size_t column) {
  return *table.rows.at(row).at(column).figure;
}

const Figure& figure_named(const Table& table, const std::string& name) {
  for (const auto& row : table.rows) {
    if (row[0].text == name) return *row[1].figure;
  }
  ADD_FAILURE() << "no row " << name;
  static const Figure kNone;
  return kNone;
}

TEST(Sim, NoNoiseMakesMoreFalseWinsThanNominalHoweverOftenOneLooks) {
  const Table table = errors_table(options_of(600));
  EXPECT_EQ(table.rows.size(), 9U);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    SCOPED_TRACE(table.rows[row][0].text + " " + table.rows[row][1].text);
    const double nominal[] = {0.05, 0.01, 0.001, 0.05};
    for (std::size_t i = 0; i < 4; ++i) {
      const Figure& f = figure(table, row, i + 2);
      EXPECT_LE(f.value, nominal[i] + 3 * std::sqrt(nominal[i] / 600)) << table.columns[i + 2];
    }
  }
}

TEST(Sim, AMixedCampaignKeepsItsPromises) {
  const Table table = campaign_table(options_of(4000));
  const auto at_most = [&](const char* name, double limit) {
    const Figure& f = figure_named(table, name);
    EXPECT_LE(f.value, limit + 2 * f.error) << name;
  };
  at_most("false share of promotions", 0.08);
  at_most("of them noise alone", 0.01);
  at_most("pairs per hypothesis", 15);
  at_most("after canaries: false share", 0.02);
  const Figure& recall = figure_named(table, "recall of wins of 2 % and more");
  EXPECT_GE(recall.value, 0.88 - 2 * recall.error);
  const Figure& told = figure_named(table, "  where jobs tell what checks need");
  EXPECT_GE(told.value, 0.89 - 2 * told.error);
  EXPECT_LE(figure_named(table, "after canaries: false share").value,
            figure_named(table, "false share of promotions").value);
}

TEST(Sim, FalseDiscoveriesStayBelowAlphaWhereWinsAreRare) {
  const Table table = fdr_table(options_of(1600));
  for (std::size_t row = 0; row < 3; ++row) {
    const Figure& f = figure(table, row, 1);
    EXPECT_LE(f.value, 0.10 + 3 * std::max(f.error, 0.02)) << "row " << row;
  }
}

// Each threat is seen by the check that is there for it.
TEST(Sim, EveryAdversaryMeetsItsCheck) {
  const Table table = classes_table(options_of(18 * 60));
  ASSERT_EQ(table.rows.size(), static_cast<std::size_t>(kKinds));
  for (const KindRow& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    const auto row = static_cast<std::size_t>(kind.kind);
    const Figure& promoted = figure(table, row, 6);
    if (is_real(kind.kind)) continue;
    EXPECT_LE(promoted.value - 2 * promoted.error, 0.35);
    const bool plain = kind.expected.promoted < 0.01 && !is_statistical(kind.kind);
    if (!plain) continue;
    EXPECT_LE(promoted.value, 0.05);
    EXPECT_TRUE(table.rows[row][10].text.starts_with(kind.expected.refuter))
        << table.rows[row][10].text;
  }
}

TEST(Sim, ReplaysFromItsSeedOnAnyNumberOfThreads) {
  Options options = options_of(400);
  const auto print = [&] {
    std::string text;
    for (const auto make : {campaign_table, decisions_table, classes_table, power_table}) {
      for (const auto& cells : make(options).rows) {
        for (const Cell& cell : cells) text += cell.text + "|";
      }
      options.size = 40;
    }
    options.size = 400;
    return text;
  };
  options.watch.threads = 1;
  const std::string one = print();
  options.watch.threads = 2;
  EXPECT_EQ(print(), one);
  options.seed = 12;
  EXPECT_NE(print(), one);
}

TEST(Sim, TheBestFirstGiveBackMoreSoonerThanTheOldestFirst) {
  // Of fewer than twelve pools the error is as large as the difference.
  const Table table = budget_table(options_of(2400));
  ASSERT_EQ(table.rows[0][0].text, "ours");
  ASSERT_EQ(table.rows[2][0].text, "fifo");
  for (std::size_t column = 1; column <= 4; ++column) {
    EXPECT_GT(figure(table, 0, column).value, figure(table, 2, column).value + 0.1) << column;
  }
}

TEST(Sim, OtherWaysToDecidePromoteMoreThatIsFalse) {
  const Table table = decisions_table(options_of(1000));
  ASSERT_EQ(table.rows.size(), 2 + rivals().size());
  EXPECT_LE(figure(table, 1, 1).value, figure(table, 0, 1).value) << "canaries only take away";
  for (std::size_t row = 2; row < table.rows.size(); ++row) {
    EXPECT_GT(figure(table, row, 1).value, figure(table, 0, 1).value + 0.2) << row;
  }
}

// At equal error, sooner: where there is something to find.
TEST(Sim, TakesFewerPairsThanGroupSequentialAndFixedTests) {
  const Table table = methods_table(options_of(300));
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const double noise = figure(table, row, 0).value;
    const double saving = figure(table, row, 1).value;
    SCOPED_TRACE(table.rows[row][0].text + " " + table.rows[row][1].text);
    if (saving == 0) {
      for (const std::size_t method : {2U, 4U, 6U}) {
        EXPECT_LE(figure(table, row, method).value, 0.05 + 3 * std::sqrt(0.05 / 300));
      }
    } else if (saving >= noise) {
      EXPECT_GE(figure(table, row, 2).value, figure(table, row, 4).value - 0.05);
      EXPECT_LT(figure(table, row, 3).value, figure(table, row, 5).value);
    }
  }
}

TEST(Sim, PowerIsAsDesigned) {
  const Table table = power_table(options_of(300));
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    SCOPED_TRACE(table.rows[row][0].text + " " + table.rows[row][1].text);
    EXPECT_NEAR(figure(table, row, 2).value, figure(table, row, 3).value, 0.10);
    EXPECT_NEAR(figure(table, row, 4).value, figure(table, row, 5).value, 2.5);
  }
}

// The loop's own promotion, rollback and reopening: what is counted here went through them.
TEST(Sim, WhatTheCanaryRollsBackIsTriedAgainOnceIfAPersonReopensIt) {
  sim::Setup setup;
  setup.hypotheses = 12;
  setup.canary = true;
  const std::vector<Kind> kinds(12, Kind::kFail);
  const Campaign once = run_campaign(setup, 5, kinds);
  setup.reopens = true;
  const Campaign twice = run_campaign(setup, 5, kinds);
  int promoted = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(twice.outcomes[i].reopened, once.outcomes[i].rolled_back);
    promoted += once.outcomes[i].promoted ? 1 : 0;
    if (!twice.outcomes[i].reopened) continue;
    EXPECT_GT(twice.outcomes[i].pairs(), once.outcomes[i].pairs());
    EXPECT_TRUE(twice.outcomes[i].verdict || twice.outcomes[i].held || twice.outcomes[i].parked);
  }
  EXPECT_GT(promoted, 0) << "a change that fails more often than seen in pairs";
}

}  // namespace
}  // namespace amdahl::sim
