#include "compare/account.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compare/sample_measurements.h"

namespace amdahl::compare {
namespace {

using model::Answer;

bool has(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines) {
    if (line.find(part) != line.npos) return true;
  }
  return false;
}

std::string line_of(const Account& account, const std::string& name) {
  for (const Line& line : account.lines) {
    if (line.name == name) return line.text;
  }
  return "";
}

TEST(Account, TheVerdictIsOneSentenceForEachAnswer) {
  struct Case {
    double effect;
    int pairs;
    Answer answer;
    std::string verdict;
  };
  const Case kCases[] = {
      {0.08, 9, Answer::kBetter,
       "B is faster: saves 7.7 % (6.7 % to 8.7 %, 95 % confidence each side) over 9 pairs."},
      {-0.08, 9, Answer::kWorse,
       "B is slower: costs 8.3 % more (7.2 % to 9.5 %, 95 % confidence each side) over 9 pairs."},
      {0.0, 12, Answer::kSame,
       "No difference that matters: B costs 0.1 % more (-0.9 % to 0.9 %, 95 % confidence each "
       "side) over 12 pairs; less than 1.0 % either way does not count."},
      {0.01, 3, Answer::kCannotTell,
       "Cannot tell yet: B saves 1.1 % (too few pairs for an interval) over 3 pairs."},
      {0.0, 0, Answer::kCannotTell, "Cannot tell: no pair was completed."},
  };
  for (const Case& c : kCases) {
    const Account account = account_of(sample_tried(c.effect, 0.01, c.pairs));
    SCOPED_TRACE(account.verdict);
    EXPECT_EQ(account.comparison.answer, c.answer);
    EXPECT_EQ(account.verdict, c.verdict);
  }
}

TEST(Account, MoreIsBetterForSomeMetrics) {
  Measurements measured = sample_tried(0.1, 0.01, 9);
  measured.spec.metric = "tokens_per_s";
  measured.spec.lower_is_better = false;
  measured.metric_text = {"tokens_per_s", "", "is better", "is worse", false};
  for (model::PairFact& pair : measured.pairs) {
    pair.a.metric = 100 / pair.a.cost;
    pair.b.metric = 100 / pair.b.cost;
  }
  for (model::PairFact& pair : measured.same) pair.a.metric = pair.b.metric = 100;
  const Account better = account_of(measured);
  EXPECT_TRUE(better.verdict.starts_with("B is better: gains 11 % (")) << better.verdict;
  EXPECT_NEAR(share_of(better.comparison.effect, measured.metric_text), std::expm1(0.1), 0.02);
  for (model::PairFact& pair : measured.pairs) std::swap(pair.a, pair.b);
  const Account worse = account_of(measured);
  EXPECT_TRUE(worse.verdict.starts_with("B is worse: loses ")) << worse.verdict;
}

TEST(Account, KnowsWhereTheNoiseComesFrom) {
  Measurements measured = sample_tried(0.08, 0.02, 9);
  EXPECT_EQ(account_of(measured).noise.from, "measured by 6 pairs of A against A");
  EXPECT_NE(line_of(account_of(measured), "A against A"), "");
  measured.same.clear();
  const Account own = account_of(measured);
  EXPECT_EQ(own.noise.from, "measured by the spread of the 9 pairs");
  EXPECT_NEAR(own.noise.sigma, 0.02, 0.01);
  EXPECT_TRUE(line_of(own, "Noise").ends_with("; to measure it first: --same 6"));
  measured.pairs.resize(2);
  EXPECT_EQ(account_of(measured).noise.from, "assumed");
  measured.noise_given = true;
  EXPECT_EQ(account_of(measured).noise.from, "given with --noise");
}

TEST(Account, EachRowHoldsWhatWasKnownThen) {
  const Measurements measured = sample_tried(0.08, 0.02, 12);
  const Account account = account_of(measured);
  ASSERT_EQ(account.rows.size(), 12U);
  for (std::size_t n = 1; n <= 12; ++n) {
    const std::vector<model::PairFact> so_far(measured.pairs.begin(),
                                              measured.pairs.begin() + static_cast<long>(n));
    const model::Comparison want =
        judge(resolved_prefix(so_far, {}, measured.spec), measured.design);
    EXPECT_EQ(account.rows[n - 1].effect, want.effect);
    EXPECT_EQ(account.rows[n - 1].lower, want.lower);
    EXPECT_EQ(account.rows[n - 1].upper, want.upper);
  }
  const auto width = [&](std::size_t i) { return account.rows[i].upper - account.rows[i].lower; };
  EXPECT_LT(width(11), width(6)) << "it narrows";
}

TEST(Account, AVoidPairIsARowAndCountsForNothing) {
  Measurements measured = sample_tried(0.08, 0.01, 9);
  measured.pairs[8].voided = true;
  measured.pairs[8].b.failed = true;
  measured.pairs[8].void_reason = "B: exit 1";
  const Account account = account_of(measured);
  EXPECT_EQ(account.comparison.pairs, 8);
  EXPECT_EQ(account.comparison.voided, 1);
  EXPECT_FALSE(account.rows[8].d);
  EXPECT_EQ(account.rows[8].effect, account.rows[7].effect);
  EXPECT_EQ(line_of(account, "Void"), "1 of 9 pairs; the last one: B: exit 1");
  EXPECT_TRUE(has(account.remarks, "A failed in 0 and B in 1 of 9 runs each")) << "and who failed";
}

TEST(Account, SaysWhatWouldSettleIt) {
  // Stopped early: more pairs, and what to type.
  const Account early = account_of(sample_tried(0.03, 0.03, 4));
  ASSERT_EQ(early.comparison.answer, Answer::kCannotTell);
  ASSERT_EQ(early.settle.size(), 1U);
  EXPECT_TRUE(early.settle[0].starts_with("about ")) << early.settle[0];
  EXPECT_TRUE(early.settle[0].ends_with("; run: amdahl compare --resume /state/compare/c-1"));
  // At the limit: each way, with its number.
  Measurements measured = sample_tried(0.04, 0.05, 12);
  measured.design.cap = 12;
  const Account late = account_of(measured);
  ASSERT_EQ(late.comparison.answer, Answer::kCannotTell) << late.verdict;
  for (const char* way : {"--pairs ", "a quieter machine: ", "longer runs: ", "--concurrent",
                          "a larger threshold: with --claim "}) {
    EXPECT_TRUE(has(late.settle, way)) << way;
  }
  EXPECT_TRUE(account_of(sample_tried(0.08, 0.01, 9)).settle.empty());
  // Between two answers no number of pairs is promised.
  EXPECT_TRUE(
      has(account_of(sample_tried(0.02, 0.05, 12)).settle, "more pairs alone will not help: "));
}

// Each oddity alone, on a sample that draws no remark without it.
TEST(Account, RemarksOnWhatIsOdd) {
  struct Case {
    void (*spoil)(Measurements&);
    std::string remark;
  };
  const Case kCases[] = {
      {[](Measurements& t) {
         for (auto& p : t.pairs) p.b.output_digest = "other";
       },
       "A and B print different output every time: do they do the same work?"},
      {[](Measurements& t) {
         t.outputs_named = true;
         t.pairs[3].b.output_digest = "other";
       },
       "The outputs of A and B differ."},
      {[](Measurements& t) {
         for (auto& p : t.pairs) p.b.work = 0.9, p.b.cost *= 0.9;
       },
       "The work per run differs: 1.00 for A, 0.9 for B."},
      {[](Measurements& t) {
         for (auto& p : t.pairs) p.b.cost *= p.variant_second ? 0.94 : 1.06;
         for (auto& p : t.same) p.b.cost *= p.variant_second ? 0.94 : 1.06;
       },
       "The arm that runs second is "},
      {[](Measurements& t) { t.pairs[5].b.cost *= 2; }, "Outlier: pair 6 ("},
      {[](Measurements& t) {
         for (auto& p : t.pairs) p.a.foreign_cpu_cores = p.b.foreign_cpu_cores = 0.9;
       },
       "Other processes kept 0.9 of 2 cores busy while A ran, 0.9 while B ran."},
      {[](Measurements& t) {
         for (auto& p : t.pairs) p.a.foreign_cpu_cores = 0.4;
       },
       "Other processes used 0.4 cores while A ran and 0.0 while B ran"},
      {[](Measurements& t) {
         for (auto& p : t.pairs) p.a.steal_share = 0.1;
       },
       "The hypervisor took 10 % of the CPU time (steal)."},
      {[](Measurements& t) {
         for (auto& p : t.pairs) p.a.wall_s = 0.004;
       },
       "A run takes only 4 ms, mostly process start-up."},
      {[](Measurements& t) {
         for (auto& p : t.same) p.b.cost = 0.95;
       },
       "A differs from itself by 5."},
      {[](Measurements& t) { t.pairs[2].b.cost *= 4, t.pairs[7].b.cost *= 4; },
       "The typical pair saves "},
  };
  EXPECT_TRUE(account_of(sample_tried(0.08, 0.01, 12)).remarks.empty());
  for (const Case& c : kCases) {
    Measurements measured = sample_tried(0.08, 0.01, 12);
    c.spoil(measured);
    const Account account = account_of(measured);
    EXPECT_TRUE(has(account.remarks, c.remark))
        << c.remark << "\nis not among: " << testing::PrintToString(account.remarks);
  }
}

TEST(Account, TheOtherArmIsNoStranger) {
  Measurements measured = sample_tried(0.08, 0.01, 9);
  for (model::PairFact& pair : measured.pairs) {
    pair.concurrent = true;
    pair.a.cpu_s = pair.a.wall_s;
    pair.b.cpu_s = pair.b.wall_s;
    pair.a.foreign_cpu_cores = pair.b.foreign_cpu_cores = 1;
  }
  EXPECT_TRUE(line_of(account_of(measured), "Host").ends_with("0.00 while B ran"))
      << line_of(account_of(measured), "Host");
  EXPECT_FALSE(has(account_of(measured).remarks, "The machine was busy"));
}

TEST(Account, NumbersAreShownAsPeopleReadThem) {
  const MetricText plain{"x", "", "", "", true};
  const MetricText memory{"peak memory", "MB", "", "", true};
  EXPECT_EQ(show_value(99580, plain), "99580");
  EXPECT_EQ(show_value(3.14159, plain), "3.14");
  EXPECT_EQ(show_value(1234.5, memory), "1234 MB");
  EXPECT_EQ(show_value(1.2345678, MetricText{}), "1.235 s");
  EXPECT_EQ(show_value(0.0123, MetricText{}), "12.3 ms");
  EXPECT_EQ(show_value(754, MetricText{}), "12 min 34 s");
}

TEST(Account, SharesAndEffectsAreInverse) {
  for (const bool lower_is_better : {true, false}) {
    const MetricText metric_text{"x", "", "", "", lower_is_better};
    for (const double effect : {-0.5, -0.01, 0.0, 0.2, 1.0}) {
      EXPECT_NEAR(effect_of(share_of(effect, metric_text), metric_text), effect, 1e-12);
    }
  }
}

}  // namespace
}  // namespace amdahl::compare
