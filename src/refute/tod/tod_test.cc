#include "refute/tod/tod.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::tod {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: weighted by time of day it saves 10.0 %; at least half of 10.0 % is required: 00-06 h "
     "(25 %) saves 9.9 % over 3 pairs; 06-12 h (25 %) saves 10 % over 3 pairs; 12-18 h (25 %) "
     "saves 9.8 % over 3 pairs; 18-24 h (25 %) saves 10 % over 3 pairs"},
    {"within one quarter",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (true) pair.a.started_s = 1700006400;
       }
     },
     "abstain: by time of day: 25 % of the fleet has at least 3 pairs; 70 % is required: 00-06 h "
     "(25 %) saves 10.0 % over 12 pairs; 06-12 h (25 %) has 0 pairs; 12-18 h (25 %) has 0 pairs; "
     "18-24 h (25 %) has 0 pairs"},
    {"too few for quarters, a loss by night",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         const int n = pair.index % 12;
         pair.a.started_s = 1700006400 + 3600 * (n < 2 ? 1 : n < 8 ? 8 : n < 10 ? 14 : 20);
         if (n < 2 || n >= 10) set_effect(pair, -0.02);
       }
     },
     "doubt: weighted by half of the day it saves 4.2 %; at least half of 10.0 % is required: "
     "06-18 "
     "h (50 %) saves 10.0 % over 8 pairs; 18-06 h (50 %) costs 2.0 % more over 4 pairs (loss: p = "
     "0.062)"},
    {"unknown",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (true) pair.a.started_s = 0;
       }
     },
     "abstain: no pair recorded when it ran"},
    {"the fleet runs at night",
     [](Evidence& e, model::Spec&) {
       e.quarter_shares = {0.8, 0.1, 0, 0.1};
       for (auto& pair : e.pairs) pair.a.started_s = 1700006400;
     },
     "agree: weighted by time of day it saves 10.0 %; at least half of 10.0 % is required: 00-06 h "
     "(80 %) saves 10.0 % over 12 pairs; 06-12 h (10 %) has 0 pairs; 12-18 h (0.0 %) has 0 pairs; "
     "18-24 h (10 %) has 0 pairs"},
    {"mostly at night",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index % 12 >= 3) set_effect(pair, 0.004);
       }
     },
     "doubt: weighted by time of day it saves 2.9 %; at least half of 10.0 % is required: 00-06 h "
     "(25 %) saves 9.9 % over 3 pairs; 06-12 h (25 %) saves 0.4 % over 3 pairs; 12-18 h (25 %) "
     "saves 0.4 % over 3 pairs; 18-24 h (25 %) saves 0.4 % over 3 pairs"},
    {"a loss at noon",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index % 12 >= 6 && pair.index % 12 < 9) set_effect(pair, -0.02);
       }
     },
     "agree: weighted by time of day it saves 7.1 %; at least half of 10.0 % is required: 00-06 h "
     "(25 %) saves 9.9 % over 3 pairs; 06-12 h (25 %) saves 10 % over 3 pairs; 12-18 h (25 %) "
     "costs 2.0 % more over 3 pairs (loss: p = 0.12); 18-24 h (25 %) saves 10 % over 3 pairs"},
    {"topped up at noon, a loss for good",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 6 && pair.index < 9) set_effect(pair, -0.02);
       }
       top_up(e, "tod", 4, -0.02);
       for (auto& pair : e.pairs) {
         if (pair.target == "tod") pair.a.started_s = 1700006400 + 13 * 3600;
       }
     },
     "veto: weighted by time of day it saves 7.2 %; at least half of 10.0 % is required: 00-06 h "
     "(25 %) saves 9.9 % over 3 pairs; 06-12 h (25 %) saves 10 % over 3 pairs; 12-18 h (25 %) "
     "costs 1.9 % more over 7 pairs (loss: p = 0.008); 18-24 h (25 %) saves 10 % over 3 pairs"},
    {"a loss all day",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index % 12 >= 3) set_effect(pair, -0.06);
       }
     },
     "veto: weighted by half of the day it costs 1.9 % more; at least half of 10.0 % is required: "
     "06-18 h (50 %) costs 6.2 % more over 6 pairs (loss: p = 0.016); 18-06 h (50 %) saves 2.2 % "
     "over 6 pairs"},
};

// Of one quarter there is too little, of its neighbour too little to be sure: together they lose.
TEST(Tod, AQuarterThatIsMissingIsHeardInItsHalf) {
  const model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  for (auto& pair : evidence.pairs) {
    const int n = pair.index % 12;
    pair.a.started_s = 1700006400 + 3600 * (n < 4 ? 1 : n < 7 ? 8 : n < 8 ? 14 : 20);
    if (n >= 4 && n < 8) set_effect(pair, -0.03);
  }
  EXPECT_EQ(run(evidence).vote, model::Vote::kRefute) << run(evidence).because;
}

// Neighbours disturbed the only three pairs of the night; nobody can send further pairs there.
TEST(Tod, ThreeDisturbedPairsRefuteNothingForEver) {
  const model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  for (auto& pair : evidence.pairs) {
    pair.a.started_s = 1700006400 + 3600 * (pair.index < 3 ? 1 : 8);
    if (pair.index < 3) set_effect(pair, -0.6);
  }
  EXPECT_EQ(run(evidence).vote, model::Vote::kRefute) << run(evidence).because;
  EXPECT_FALSE(run(evidence).decisive) << run(evidence).because;
  top_up(evidence, "tod", 8, 0.1);
  for (auto& pair : evidence.pairs) {
    if (pair.target == "tod") pair.a.started_s = 1700006400 + 8 * 3600;
  }
  EXPECT_EQ(run(evidence).vote, model::Vote::kAbstain) << run(evidence).because;
  for (auto& pair : evidence.pairs) {
    if (pair.index == 3) pair.a.started_s = 1700006400 + 3600;
    if (pair.index == 3) set_effect(pair, -0.6);
  }
  EXPECT_TRUE(run(evidence).decisive) << "a fourth shows that it is no chance";
}

TEST(Tod, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

TEST(Tod, AsksForMoreOnlyWhereTheClockGoesAround) {
  const model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  for (auto& pair : e.pairs) pair.a.started_s = 1700006400;
  EXPECT_FALSE(pairs_help(e)) << "the next pair would run at night, too";
  e.pairs[0].a.started_s = 1700006400 + 8 * 3600;
  EXPECT_TRUE(pairs_help(e));
}

TEST(Tod, KnowsTheQuarterOfTheLocalDay) {
  constexpr double kMidnight = 1700006400;
  EXPECT_EQ(quarter_of(kMidnight, 0), "00-06 h");
  EXPECT_EQ(quarter_of(kMidnight - 1, 0), "18-24 h");
  EXPECT_EQ(quarter_of(kMidnight + 6 * 3600, 0), "06-12 h");
  EXPECT_EQ(quarter_of(kMidnight + 6 * 3600 - 1, 0), "00-06 h");
  EXPECT_EQ(quarter_of(kMidnight + 13 * 3600, 0), "12-18 h");
  EXPECT_EQ(quarter_of(kMidnight, -3600), "18-24 h");
  EXPECT_EQ(quarter_of(kMidnight, 5.5 * 3600), "00-06 h");
  EXPECT_EQ(quarter_of(kMidnight, 8 * 3600), "06-12 h");
  EXPECT_EQ(quarter_of(-1, 0), "18-24 h");
}

}  // namespace
}  // namespace amdahl::refute::tod
