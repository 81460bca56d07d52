#include "scan/ranking.h"

#include <algorithm>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/test_fleet.h"

namespace amdahl::scan {
namespace {

class RankingTest : public testing::Test {
 protected:
  RankingTest() {
    for (int i = 0; i < 50; ++i) {
      const std::string id = fmt::format("{}", 1000 + i);
      const std::string user = i % 5 == 0 ? "Ada" : "bob";
      fleet_.add({.id = id,
                  .name = i % 2 == 0 ? "train" : "eval",
                  .user = user,
                  .hours = 1 + i % 7,
                  .utilisation = 0.1 * (i % 4)});
    }
    families_ = families_of(fleet_.usage, *Recogniser::make({}));
    options_.rows = 5;
    ranking_ = std::make_unique<Ranking>(fleet_.usage, families_, Memories{}, options_);
  }

  static std::vector<std::string> names(const Cut& cut) {
    std::vector<std::string> all;
    for (const Row& row : cut.rows) all.push_back(row.name);
    return all;
  }

  Fleet fleet_;
  Families families_;
  ReportOptions options_;
  std::unique_ptr<Ranking> ranking_;
};

TEST_F(RankingTest, PagesPutTogetherAreTheWholeRanking) {
  options_.rows = 0;
  for (const Order order : {Order::kRecoverable, Order::kAllocated}) {
    options_.order = order;
    const Report whole = report(fleet_.usage, families_, {}, options_);
    for (const By by : kCuts) {
      std::vector<std::string> seen;
      for (std::size_t skip = 0;; skip += 7) {
        const Cut page = ranking_->page({.by = by, .order = order, .skip = skip, .rows = 7});
        EXPECT_EQ(page.count, whole.cut(by).count);
        if (page.rows.empty()) break;
        for (const std::string& name : names(page)) seen.push_back(name);
      }
      EXPECT_EQ(seen, names(whole.cut(by))) << name(by) << " " << name(order);
    }
  }
}

TEST_F(RankingTest, SearchAndFamilyChooseAmongTheJobs) {
  EXPECT_EQ(names(ranking_->page({.by = By::kJob, .search = "1007"})),
            std::vector<std::string>{"1007"});
  EXPECT_EQ(ranking_->page({.by = By::kJob, .search = "aDa"}).count, 10U) << "in any case";
  EXPECT_EQ(ranking_->page({.by = By::kJob, .search = "nobody"}).count, 0U);
  EXPECT_EQ(ranking_->page({.by = By::kUser, .search = "B"}).rows.size(), 1U);
  std::uint64_t jobs = 0;
  for (const Row& family : ranking_->page({.by = By::kFamily}).rows) {
    const Cut of_family = ranking_->page({.by = By::kJob, .family = family.name});
    EXPECT_EQ(of_family.count, family.jobs) << family.name;
    jobs += of_family.count;
  }
  EXPECT_EQ(jobs, 50U);
  EXPECT_TRUE(ranking_->page({.by = By::kJob, .skip = 50}).rows.empty());
}

TEST_F(RankingTest, AFamilysLeversStartWithTheOneItIsRankedBy) {
  for (const Row& family : ranking_->report().cut(By::kFamily).rows) {
    ASSERT_FALSE(family.levers.empty()) << family.name;
    EXPECT_EQ(family.levers.front().action, family.lever.action);
    EXPECT_NEAR(family.levers.front().recoverable, family.recoverable, 1e-6 * family.recoverable);
    double sum = 0;
    for (const Lever& lever : family.levers) sum += lever.recoverable;
    EXPECT_LE(sum, wasted(family.split) * (1 + 1e-9));
    EXPECT_TRUE(std::ranges::is_sorted(family.levers, std::greater<>{}, &Lever::recoverable));
  }
}

}  // namespace
}  // namespace amdahl::scan
