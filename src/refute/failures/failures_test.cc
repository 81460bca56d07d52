#include "refute/failures/failures.h"

#include <cmath>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::failures {
namespace {

void fail(Evidence& e, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) e.pairs[i].voided = e.pairs[i].b.failed = true;
}

// Two of the pairs that ended well were bought for this check.
void top_up_here(Evidence& e) {
  e.topped_up = true;
  for (const std::size_t at : {5U, 6U}) {
    e.pairs[at].purpose = model::Purpose::kTopUp;
    e.pairs[at].target = "failures";
  }
}

void lose(model::PairFact& pair, model::ArmFact& arm) {
  pair.voided = arm.failed = true;
  arm.wall_s = 0;
}

// How often the baseline fails, by itself all of it.
void usually(Evidence& e, double rate, double runs = 50) {
  e.usual_failures = e.usual_own_failures = {rate, runs};
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
       top_up_here(e);
     },
     "agree: the variant failed in 2 of 12 attempts; 4.0 % is usual (more: p = 0.081)"},
    {"four failed", [](Evidence& e, model::Spec&) { fail(e, 4); },
     "doubt: the variant failed in 4 of 12 attempts; 4.0 % is usual (more: p = 0.0010, E 22.0)"},
    {"five failed still",
     [](Evidence& e, model::Spec&) {
       fail(e, 5);
       top_up_here(e);
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
     "doubt: the variant failed in 4 of 16 attempts; 4.0 % is usual (more: p = 0.003, E 6.81)"},
    {"failed once among pairs that another check bought",
     [](Evidence& e, model::Spec&) {
       usually(e, 0.4 / 37, 37);
       top_up(e, "order", 4, 0.1);
       e.pairs.back().voided = e.pairs.back().b.failed = true;
     },
     "doubt: the variant failed in 1 of 16 attempts; 1.1 % is usual (more: p = 0.16, E 0.55)"},
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
       usually(e, 0.6);
     },
     "veto: 9 pairs were lost because of the variant alone and 0 because of the baseline alone (E "
     "102 against chance): the remaining pairs are selected by the variant"},
    {"as often lost to A, of a job that often fails",
     [](Evidence& e, model::Spec&) {
       fail(e, 4);
       for (std::size_t i = 4; i < 8; ++i) e.pairs[i].voided = e.pairs[i].a.failed = true;
       usually(e, 0.6);
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
  usually(evidence, 0.4 / 37, 37);  // None in 27 runs.
  fail(evidence, 2);
  EXPECT_FALSE(run(evidence).mandatory);
  EXPECT_TRUE(show(run(evidence)).starts_with("doubt: "));
  top_up_here(evidence);
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
  usually(evidence, 0.03, 210);
  fail(evidence, 2);
  EXPECT_TRUE(show(run(evidence)).starts_with("doubt: ")) << show(run(evidence));
  top_up_here(evidence);
  EXPECT_TRUE(show(run(evidence)).starts_with("agree: ")) << show(run(evidence));
  usually(evidence, 0.03, 37);
  EXPECT_TRUE(show(run(evidence)).starts_with("abstain: ")) << "a short history tells less";
}

// A place that kills a tenth of all workers makes many failures usual, but not those of a variant
// that ends well and leaves no result, which its baseline never did.
TEST(Failures, WorkersThatDieExcuseNothingThatTheVariantDoes) {
  model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  top_up(evidence, "failures", 12, 0.1);
  evidence.usual_failures = {0.12, 65};
  evidence.usual_own_failures = {0.4 / 60, 60};
  for (const std::size_t at : {1U, 13U, 14U}) lose(evidence.pairs[at], evidence.pairs[at].a);
  for (const std::size_t at : {3U, 16U}) lose(evidence.pairs[at], evidence.pairs[at].b);
  EXPECT_EQ(show(run(evidence)),
            "agree: the variant failed in 2 of 24 attempts; 12 % is usual (more: p = 0.80)")
      << "it loses no more workers than its baseline";
  for (const std::size_t at : {5U, 9U, 19U}) {
    evidence.pairs[at].voided = evidence.pairs[at].b.failed = true;
  }
  const model::Finding held = run(evidence);
  EXPECT_TRUE(held.mandatory);
  EXPECT_EQ(show(held),
            "abstain: the variant failed by itself in 3 of 22 attempts; 0.7 % is usual (more: p = "
            "0.0004, E 12.0)");
  evidence.pairs[21].voided = evidence.pairs[21].b.failed = true;
  EXPECT_EQ(run(evidence).vote, model::Vote::kRefute) << show(run(evidence));
}

// A short history that shows few failures makes the p-value small before it makes E large.
TEST(Failures, AnEBelowOneHoldsNothing) {
  model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  top_up(evidence, "failures", 13, 0.1);
  usually(evidence, 0.082, 49);
  fail(evidence, 5);
  for (std::size_t i = 5; i < 8; ++i) evidence.pairs[i].voided = evidence.pairs[i].a.failed = true;
  EXPECT_EQ(show(run(evidence)),
            "agree: the variant failed in 5 of 25 attempts; 8.2 % is usual (more: p = 0.049)");
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
