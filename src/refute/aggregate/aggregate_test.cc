#include "refute/aggregate/aggregate.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::aggregate {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: the mean saving over 12 pairs is 10.0 %; at least half of the typical 10.0 % is "
     "required; far from the median: 0 slower, 0 faster"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(7); },
     "abstain: 7 pairs counted; at least 8 are needed"},
    {"three slow pairs",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs)
         if (pair.index < 3) set_effect(pair, -0.6);
     },
     "doubt: the mean saving over 12 pairs is -13 %; at least half of the typical 10.0 % is "
     "required; far from the median: 3 slower, 0 faster"},
    {"one slow pair", [](Evidence& e, model::Spec&) { set_effect(e.pairs[0], -2); },
     "abstain: the mean saving over 12 pairs is -44 %; at least half of the typical 10.0 % is "
     "required; far from the median: 1 slower, 0 faster"},
    {"many slow pairs",
     [](Evidence& e, model::Spec&) {
       for (int i = 0; i < 3; ++i) set_effect(e.pairs[at(i)], -0.6);
       top_up(e, "aggregate", 10, 0.1);
       for (int i = 12; i < 16; ++i) set_effect(e.pairs[at(i)], -0.6);
     },
     "veto: the mean saving over 22 pairs is -19 %; at least half of the typical 10.0 % is "
     "required; far from the median: 7 slower, 0 faster"},
};

// Two slow pairs of twenty are no tail: they bought pairs, which showed none.
TEST(Aggregate, AFewSlowPairsAreForgottenAfterTargetedOnes) {
  const model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  for (int i = 0; i < 2; ++i) set_effect(evidence.pairs[at(i)], -0.9);
  EXPECT_EQ(run(evidence).vote, model::Vote::kRefute) << run(evidence).because;
  Evidence by_other = evidence;
  top_up(by_other, "order", 4, 0.1);
  EXPECT_EQ(run(by_other).vote, model::Vote::kRefute) << "another check's pairs settle nothing";
  top_up(evidence, "aggregate", 12, 0.1);
  EXPECT_EQ(run(evidence).vote, model::Vote::kAbstain) << run(evidence).because;
  for (int i = 2; i < 4; ++i) set_effect(evidence.pairs[at(i)], -0.9);
  EXPECT_EQ(run(evidence).vote, model::Vote::kRefute) << run(evidence).because;
}

TEST(Aggregate, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::aggregate
