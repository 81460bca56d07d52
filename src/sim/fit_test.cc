#include "sim/fit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "compare/compare.h"
#include "sim/sequence.h"

namespace amdahl::sim {
namespace {

TEST(Fit, SaysWhatItAssumesWhereALedgerIsSilent) {
  sim::Setup setup;
  const auto told = fit({}, setup);
  const std::vector<std::string> want{
      "noise: no job has 6 pairs to measure it; assumed: a mix of 1 to 10 % per pair",
      "outliers: 0 pairs are too few; assumed: 3.0 % of runs",
      "second run of a pair: 0 pairs are too few; assumed: no difference",
      "failures: 0 runs are too few; assumed: 4.0 %",
      "cost of a pair: assumed: 0.5 accelerator-hours",
      "wins: 0 verdicts are too few; assumed: 18 % wins and 16 % adversaries",
  };
  EXPECT_EQ(told, want);
  EXPECT_EQ(setup.population.noises, Population{}.noises);
}

// What was put into a simulated ledger comes out again.
TEST(Fit, FindsTheWorldThatMadeThePairs) {
  PastResults seen;
  seen.tried = 200;
  seen.won = 20;
  for (std::uint64_t number = 0; number < 2; ++number) {
    const double noise = number == 0 ? 0.02 : 0.08;
    Stream stream(5, number);
    PastJob job;
    for (int i = 0; i < 1000; ++i) {
      const double second = stream.normal(0.01, noise);
      const bool far = stream.chance(0.04);
      const double d = (stream.chance(0.5) ? second : -second) + (far ? 1.5 : 0);
      job.still.push_back(d);
      job.second.push_back(second);
      job.pair_hours.push_back(0.25);
      job.runs += 1;
      job.failed += stream.chance(0.1) ? 1 : 0;
    }
    seen.jobs.push_back(std::move(job));
  }
  sim::Setup setup;
  const auto told = fit(seen, setup);
  ASSERT_EQ(setup.population.noises.size(), 2U);
  EXPECT_NEAR(setup.population.noises[0], 0.022, 0.003);
  EXPECT_NEAR(setup.population.noises[1], 0.08, 0.010);
  ASSERT_TRUE(setup.noise);
  EXPECT_NEAR(setup.noise->outlier_share, 0.02, 0.004) << "4 % of pairs are 2 % of runs";
  EXPECT_NEAR(setup.noise->outlier_least + setup.noise->outlier_more, 1.5, 0.1);
  EXPECT_NEAR(setup.noise->second, 0.01, 0.004);
  EXPECT_NEAR(setup.noise->fail, 0.10, 0.02);
  EXPECT_DOUBLE_EQ(setup.population.pair_hours, 0.25);
  EXPECT_DOUBLE_EQ(setup.mix[static_cast<std::size_t>(Kind::kWin)], 0.10);
  EXPECT_EQ(told.back(), "wins: 20 of 200 verdicts; assumed: 16 % adversaries");
}

TEST(Fit, AFittedCampaignRuns) {
  sim::Setup setup;
  PastResults seen;
  seen.jobs.push_back({{.01, -.01, .02, -.02, .01, -.015}, {}, {.1, .1, .1, .1, .1, .1}, 12, 0});
  fit(seen, setup);
  setup.hypotheses = 20;
  const Campaign campaign = run_campaign(setup, 3);
  ASSERT_EQ(campaign.outcomes.size(), 20U);
  for (const Outcome& outcome : campaign.outcomes) {
    EXPECT_TRUE(outcome.held || outcome.parked || outcome.verdict.has_value());
    EXPECT_NEAR(outcome.truth.noise, 0.0185, 0.005);
  }
}

}  // namespace
}  // namespace amdahl::sim
