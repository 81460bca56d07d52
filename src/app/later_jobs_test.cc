#include "app/later_jobs.h"

#include <cmath>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "app/canary.h"
#include "app/roi.h"
#include "app/scan_cycle.h"
#include "app/test_kit.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

using model::CanaryState;

class LaterJobsTest : public ContextTest {
 protected:
  void SetUp() override {
    adopt();
    ASSERT_TRUE(os::make_dirs(context_.path("usage")));
    clock_.advance(kDay * 20000);
  }

  // So many jobs, three hours apart, each of 600 s with 2 % noise, divided by exp(effect).
  void run_jobs(int count, double effect) {
    for (int i = 0; i < count; ++i) {
      model::Usage usage;
      usage.job = fmt::format("j-{:04}", ++job_);
      usage.family = "eval";
      usage.host = "vm";
      usage.accelerators = 2;
      usage.start = clock_.unix_time();
      const double cost = 600 * std::exp(0.02 * normal_(luck_));
      usage.end = usage.start + from_seconds(cost * std::exp(-effect));
      if (effect != 0) saved_ += 2 * (cost - cost * std::exp(-effect));
      // Not by os::write_file, which waits for the disk.
      std::ofstream(context_.path(fmt::format("usage/{}.json", usage.job)))
          << dump_json(encode(usage));
      clock_.advance(std::chrono::hours(3));
    }
  }

  // A new ledger and new luck; promotions tell a hook.
  void begin_anew(unsigned seed) {
    context_.config.state_dir = (folder_ / std::to_string(seed)).string();
    ASSERT_TRUE(os::make_dirs(context_.path("usage")));
    context_.ledger = *ledger::open_sqlite(context_.path("ledger.db"), {}, clock_);
    context_.config.gate_hook = fmt::format("cat > '{}'", context_.path("told.json"));
    luck_.seed(seed);
    normal_.reset();
    job_ = 0;
    saved_ = 0;
    adopt();
  }

  void watch() {
    const auto fleet = scan_here(context_);
    ASSERT_TRUE(fleet);
    ASSERT_TRUE(record_volumes(context_, *fleet));
    const auto done = watch_later_jobs(context_, *fleet, to_said_);
    ASSERT_TRUE(done) << done.error().text;
  }

  void promote_one() {
    model::Change change;
    change.env["A"] = "1";
    promote("h-1", change);
  }

  static constexpr Nanos kDay = std::chrono::hours(24);
  int job_ = 0;
  double saved_ = 0;  // In truth, accelerator-seconds.
  std::mt19937_64 luck_{4};
  std::normal_distribution<double> normal_;
  std::vector<std::string> said_;
  Say to_said_ = [this](const std::string& line) { said_.push_back(line); };
};

TEST_F(LaterJobsTest, WhatLaterJobsSavedIsBookedByMonthWithAnInterval) {
  run_jobs(40, 0);
  watch();
  EXPECT_FALSE(os::exists(context_.path("later"))) << "nothing is promoted";
  promote_one();
  run_jobs(200, 0.2);
  watch();
  const Roi roi = *return_on_investment(context_, 3.0);
  ASSERT_EQ(roi.bookings.size(), roi.months.size());
  EXPECT_GE(roi.months.size(), 1U);
  EXPECT_EQ(roi.banked.jobs, 200);
  EXPECT_LE(roi.banked.banked_lower, saved_ / 3600);
  EXPECT_GE(roi.banked.banked_upper, saved_ / 3600);
  EXPECT_NEAR(roi.banked.banked_accelerator_h, saved_ / 3600, 0.1 * saved_ / 3600);
  ASSERT_TRUE(roi.rows.at(0).banked);
  EXPECT_EQ(roi.rows.at(0).banked->jobs, 200);
  EXPECT_TRUE(said_.empty());

  // Nothing new: nothing is booked again.
  const auto before = (*context_.ledger->events("", 0, 1)).at(0).seq;
  watch();
  EXPECT_EQ((*context_.ledger->events("", 0, 1)).at(0).seq, before);
  EXPECT_TRUE((*context_.ledger->verify()).ok());
}

TEST_F(LaterJobsTest, AfterAPromotionTheBookedIntervalCoversTheTruthIn90Of100Seeds) {
  constexpr unsigned kSeeds = 100;
  unsigned covered = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    begin_anew(seed);
    run_jobs(40, 0);
    promote_one();
    run_jobs(200, 0.1);
    watch();
    const RoiMonth banked = return_on_investment(context_, 1.0)->banked;
    EXPECT_EQ(banked.jobs, 200) << seed;
    const double truth = saved_ / 3600;
    covered += banked.banked_lower <= truth && truth <= banked.banked_upper ? 1 : 0;
  }
  EXPECT_GE(covered, 90U);
  RecordProperty("covered", static_cast<int>(covered));
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    context_.config.state_dir = (folder_ / std::to_string(seed)).string();
    wait_for(context_.path("promotions/h-1.log"), "amdahl: hook ended with 0\n");
    EXPECT_EQ(parse_json(*os::read_file(context_.path("told.json")))->at("hypothesis"), "h-1");
  }
}

// The family's own volume shrinks with the saving: the saving must not shrink with it.
TEST_F(LaterJobsTest, ASavingIsCountedAgainstTheCostWithoutIt) {
  run_jobs(40, 0);
  promote_one();
  run_jobs(300, std::log(2));  // Half of the cost.
  // As a scan of the last days would see it.
  ASSERT_EQ(say({{"scan.picked",
                  "cycle",
                  "eval",
                  {{"why", ""}, {"volume_accelerator_h_per_day", 10}, {"jobs", 8}}}}),
            "");
  const auto fleet = scan_here(context_);
  ASSERT_TRUE(watch_later_jobs(context_, *fleet, to_said_));
  // A model was paid too.
  ASSERT_EQ(
      say({{"ask.reserved",
            "cycle",
            "q-1",
            {{"family", "eval"},
             {"about", "p-1"},
             {"role", "propose"},
             {"tier", 0},
             {"reserved", {{"usd", 50}}},
             {"request", {{"id", "q-1"}}}}},
           {"ask.settled", "cycle", "q-1", {{"outcome", "answered"}, {"spent", {{"usd", 40}}}}}}),
      "");
  context_.config.price_accelerator_hour = 2;
  const Roi roi = *return_on_investment(context_, std::nullopt);
  EXPECT_EQ(roi.spent_usd, 40);
  EXPECT_NEAR(roi.pays_back_days.value(), 2, 0.2) << "$40 of tokens at $20 a day";
  const RoiRow& row = roi.rows.at(0);
  EXPECT_NEAR(row.saved_accelerator_h_per_day, 10, 0.6) << "not 5: a half of what is left";
  EXPECT_NEAR(row.without_accelerator_h_per_day, 20, 0.6);
  EXPECT_NEAR(row.saved_usd_per_month, 600, 40);
}

TEST_F(LaterJobsTest, WhatAScanNoLongerSeesStaysBooked) {
  run_jobs(40, 0);
  promote_one();
  run_jobs(60, 0.2);
  watch();
  const double banked = (*return_on_investment(context_, 1.0)).banked.banked_accelerator_h;
  std::filesystem::remove_all(context_.path("usage"));
  ASSERT_TRUE(os::make_dirs(context_.path("usage")));
  run_jobs(1, 0.2);
  watch();
  const Roi roi = *return_on_investment(context_, 1.0);
  EXPECT_EQ(roi.banked.jobs, 61);
  EXPECT_GT(roi.banked.banked_accelerator_h, 0.95 * banked);
}

TEST_F(LaterJobsTest, ARegressionIsProposedForRollbackWithin60Jobs) {
  run_jobs(40, 0);
  promote_one();
  int later = 0;
  while (said_.empty() && later < 60) {
    run_jobs(5, -0.2);
    later += 5;
    watch();
  }
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_.front().find("amdahl gate rollback h-1"), std::string::npos);
  const auto proposed = *context_.ledger->canaries_in(CanaryState::kRollbackProposed);
  ASSERT_EQ(proposed.size(), 1U);
  EXPECT_EQ(proposed[0].canary.hypothesis, "h-1");
  EXPECT_LT((*return_on_investment(context_, 1.0)).banked.banked_upper, 0) << "it cost money";
  run_jobs(5, -0.2);
  watch();
  EXPECT_EQ(said_.size(), 1U) << "said once";

  ASSERT_TRUE(roll_back(context_, "h-1", "ada", "slow"));
  const auto changes = *changes_in_effect(context_, *context_.ledger->family("eval"));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_GT(changes[0].until, changes[0].from);
}

TEST_F(LaterJobsTest, WithoutACanaryTheAlarmIsNotedOnce) {
  context_.config.canary_runs = 0;
  run_jobs(40, 0);
  promote_one();
  run_jobs(40, -0.3);
  watch();
  run_jobs(5, -0.3);
  watch();
  EXPECT_EQ(said_.size(), 1U);
  EXPECT_TRUE((*context_.ledger->events("h-1", 0, 1)).at(0).payload.contains("alarm"));
}

TEST_F(LaterJobsTest, ADamagedFileIsReportedAndLeftAlone) {
  run_jobs(40, 0);
  promote_one();
  ASSERT_TRUE(os::make_dirs(context_.path("later")));
  ASSERT_TRUE(os::write_file(context_.path("later/eval.jsonl"), "{\n"));
  watch();
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_EQ(*os::read_file(context_.path("later/eval.jsonl")), "{\n");
}

// A family with very many jobs: those from before the promotion stay to be compared with, and the
// saving of the newest ones is still covered.
TEST_F(LaterJobsTest, OldJobsAreThinnedAndTheTruthIsStillCovered) {
  constexpr int kBefore = 40;
  constexpr std::size_t kMost = 200;
  const auto start = [](int i) { return kDay * 20000 + std::chrono::hours(i); };
  const std::vector<canary::InEffect> change = {{"h-1", 0.2, start(kBefore), {}}};
  std::vector<canary::LaterJob> jobs;
  std::vector<double> saved;
  for (int i = 0; i < 4000; ++i) {
    canary::LaterJob& job = jobs.emplace_back();
    job.id = std::to_string(i);
    job.start = start(i);
    const double without = 600 * std::exp(0.02 * normal_(luck_));
    job.accelerator_s = i < kBefore ? without : without * std::exp(-0.2);
    saved.push_back(without - job.accelerator_s);
    thin(jobs, change, kMost);
    ASSERT_LE(jobs.size(), kMost);
  }
  EXPECT_EQ(jobs[kBefore - 1].id, std::to_string(kBefore - 1)) << "all from before are there";
  for (int i = 1; i <= 100; ++i) EXPECT_EQ(jobs[jobs.size() - i].id, std::to_string(4000 - i));
  double truth = 0;
  for (const canary::LaterJob& job : jobs) truth += saved[std::stoul(job.id)];
  const auto realised = canary::realised(change, jobs);
  ASSERT_TRUE(realised);
  double lower = 0;
  double upper = 0;
  for (const canary::MonthSaved& month : realised->months) {
    lower += month.lower;
    upper += month.upper;
  }
  EXPECT_LE(lower, truth);
  EXPECT_GE(upper, truth);
}

TEST_F(LaterJobsTest, ALineIsReadAsItWasWritten) {
  canary::LaterJob job;
  job.id = "4711";
  job.start = std::chrono::hours(5);
  job.accelerator_s = 12.5;
  EXPECT_EQ(*read_later(later_json(job)), job);
  job.work = 3;
  job.failed = true;
  job.changes = {"h-1"};
  EXPECT_EQ(*read_later(later_json(job)), job);
  EXPECT_FALSE(read_later("{}"));
  EXPECT_FALSE(read_later("[1]"));
}

TEST_F(LaterJobsTest, TheTableHasAHeaderAndQuotesWhatASpreadsheetWouldRun) {
  Roi roi;
  roi.price = 2;
  roi.bookings = {{.month = "2026-11",
                   .family = "=cmd(\"x\")",
                   .spent_accelerator_h = 1,
                   .jobs = 3,
                   .banked_accelerator_h = 4}};
  const std::string csv = roi_csv(roi);
  EXPECT_EQ(csv.substr(0, 13), "month,family,");
  EXPECT_NE(csv.find("2026-11,\"'=cmd(\"\"x\"\")\",1,0,3,0,4,0,0,8,0,0\r\n"), std::string::npos)
      << csv;
}

}  // namespace
}  // namespace amdahl::app
