#include "refute/failures/failures.h"

#include <cmath>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::failures {
namespace {

void fail(Evidence& e, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) e.pairs[i].voided = e.pairs[i].b.failed = true;
}

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: the variant failed in 0 of 12 attempts; 4.0 % is usual (more: p = 1.00)"},
    {"one failed", [](Evidence& e, model::Spec&) { fail(e, 1); },
     "agree: the variant failed in 1 of 12 attempts; 4.0 % is usual (more: p = 0.39)"},
    {"two failed", [](Evidence& e, model::Spec&) { fail(e, 2); },
     "doubt: the variant failed in 2 of 12 attempts; 4.0 % is usual (more: p = 0.081, E 1.03)"},
    {"two failed still",
     [](Evidence& e, model::Spec&) {
       fail(e, 2);
       e.topped_up = true;
     },
     "agree: the variant failed in 2 of 12 attempts; 4.0 % is usual (more: p = 0.081)"},
    {"four failed", [](Evidence& e, model::Spec&) { fail(e, 4); },
     "doubt: the variant failed in 4 of 12 attempts; 4.0 % is usual (more: p = 0.0010, E 22.0)"},
    {"five failed still",
     [](Evidence& e, model::Spec&) {
       fail(e, 5);
       e.topped_up = true;
     },
     "veto: the variant failed in 5 of 12 attempts; 4.0 % is usual (more: p < 0.0001, E 126)"},
    {"failed beside neighbours, too",
     [](Evidence& e, model::Spec&) {
       top_up(e, "contention", 4, 0.1);
       top_up(e, "aa", 4, 0);
       for (auto& pair : e.pairs) {
         if (!pair.target.empty()) pair.voided = pair.b.failed = true;
       }
     },
     "abstain: the variant failed in 4 of 16 attempts; 4.0 % is usual (more: p = 0.003, E 6.81)"},
    {"lost before B ran",
     [](Evidence& e, model::Spec&) {
       e.pairs[0].voided = true;
       e.pairs[0].b.wall_s = 0;
     },
     "agree: the variant failed in 0 of 11 attempts; 4.0 % is usual (more: p = 1.00)"},
    {"A failed", [](Evidence& e, model::Spec&) { e.pairs[0].voided = e.pairs[0].a.failed = true; },
     "agree: the variant failed in 0 of 12 attempts; 4.0 % is usual (more: p = 1.00)"},
    {"lost while B ran, of a job that often fails",
     [](Evidence& e, model::Spec&) {
       fail(e, 9);
       for (auto& pair : e.pairs) pair.b.wall_s = pair.b.failed ? 0 : pair.b.wall_s;
       e.historical_failure_rate = 0.6;
     },
     "veto: 9 pairs were lost because of the variant alone and 0 because of the baseline alone (E "
     "102 against chance): the remaining pairs are selected by the variant"},
    {"as often lost to A, of a job that often fails",
     [](Evidence& e, model::Spec&) {
       fail(e, 4);
       for (std::size_t i = 4; i < 8; ++i) e.pairs[i].voided = e.pairs[i].a.failed = true;
       e.historical_failure_rate = 0.6;
     },
     "agree: the variant failed in 4 of 12 attempts; 60 % is usual (more: p = 0.98)"},
    {"lost to nobody",
     [](Evidence& e, model::Spec&) {
       for (std::size_t i = 0; i < 4; ++i) e.pairs[i].voided = true;
     },
     "abstain: 4 of 12 pairs were lost for unknown reasons: the remaining pairs may be selected by "
     "the variant"},
    {"hardly tried", [](Evidence& e, model::Spec&) { e.pairs.resize(4); },
     "abstain: 4 attempts counted; at least 5 are needed"},
};

TEST(Failures, SaysWhatItSees) { expect_says(kCases, run, "agree abstain doubt veto"); }

// Of a job that fails by itself more often than its short history shows, few honest wins may be
// closed for ever, and what cannot be told from a choice of the variant's must not pass.
TEST(Failures, WhatTargetedPairsDoNotSettleHoldsTheClaim) {
  model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  evidence.historical_failure_rate = 0.4 / 37;  // None in 27 runs.
  evidence.historical_failure_runs = 37;
  fail(evidence, 2);
  EXPECT_FALSE(run(evidence).mandatory);
  EXPECT_TRUE(show(run(evidence)).starts_with("doubt: "));
  evidence.topped_up = true;
  const model::Finding held = run(evidence);
  EXPECT_TRUE(show(held).starts_with("abstain: ")) << show(held);
  std::vector<model::Finding> all = ask_all(evidence);
  const Panel panel = combine(all, true, true);
  EXPECT_EQ(panel.outcome, Outcome::kHold) << panel.because;
  EXPECT_NE(panel.because.find("no answer from the mandatory checks: failures"), std::string::npos);
}

TEST(Failures, AWeakDoubtAgainstAKnownRatePassesAfterTargetedPairs) {
  model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  evidence.historical_failure_rate = 0.03;
  evidence.historical_failure_runs = 210;
  fail(evidence, 2);
  EXPECT_TRUE(show(run(evidence)).starts_with("doubt: ")) << show(run(evidence));
  evidence.topped_up = true;
  EXPECT_TRUE(show(run(evidence)).starts_with("agree: ")) << show(run(evidence));
  evidence.historical_failure_runs = 37;
  EXPECT_TRUE(show(run(evidence)).starts_with("abstain: ")) << "a short history tells less";
}

// Silence alone would let the claim pass, for the check is not mandatory.
TEST(Failures, PairsThatNobodyLostHoldTheClaimBack) {
  const model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  for (std::size_t i = 0; i < 4; ++i) evidence.pairs[i].voided = true;
  const model::Finding vote = run(evidence);
  EXPECT_EQ(vote.vote, model::Vote::kAbstain);
  EXPECT_TRUE(vote.mandatory);
  evidence.pairs[3].voided = false;
  EXPECT_EQ(run(evidence).vote, model::Vote::kAgree) << "a quarter of them is not too many";
}

// The mean of E over fair coins is 1, whenever one stops: that is what makes looking free.
TEST(Failures, TheBetAgainstChanceIsFair) {
  for (const int n : {1, 2, 5, 12}) {
    double mean = 0;
    for (int to_b = 0; to_b <= n; ++to_b) {
      const double ways =
          std::exp(std::lgamma(n + 1) - std::lgamma(to_b + 1) - std::lgamma(n - to_b + 1));
      mean += ways * std::pow(0.5, n) * std::exp(log_e({n - to_b, to_b}));
    }
    EXPECT_NEAR(mean, 1, 1e-9) << n;
  }
}

// The same over jobs whose rate is as little known as their history is short.
TEST(Failures, TheBetAgainstTheUsualRateIsFair) {
  const auto log_beta = [](double a, double b) {
    return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  };
  for (const double runs : {10, 37, 200}) {
    const double failed = 0.04 * runs;
    double mean = 0;
    for (int k = 0; k <= 15; ++k) {
      const double log_ways = -std::log(16) - log_beta(k + 1, 16 - k);
      const double log_chance =
          log_ways + log_beta(k + failed, 15 - k + runs - failed) - log_beta(failed, runs - failed);
      if (k > 0.6) mean += std::exp(log_chance + log_e(k, 15, 0.04, runs));
    }
    EXPECT_LE(mean, 1) << runs;
    EXPECT_GT(mean, 0.9) << runs;
  }
}

}  // namespace
}  // namespace amdahl::refute::failures
