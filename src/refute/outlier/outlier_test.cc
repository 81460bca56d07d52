#include "refute/outlier/outlier.h"

#include <gtest/gtest.h>

#include "refute/facts.h"
#include "refute/sample.h"

namespace amdahl::refute::outlier {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: without the best 2 of 12 pairs the saving is 9.9 %; at least half of 10.0 % is "
     "required (median 10.0 %)"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(4); },
     "abstain: 4 pairs counted; at least 5 are needed"},
    {"two lucky pairs",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) set_effect(pair, pair.index < 2 ? 1.5 : 0.02);
     },
     "doubt: without the best 2 of 12 pairs the saving is 2.0 %; at least half of 23 % is required "
     "(median 2.0 %)"},
    {"two lucky pairs of nothing",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) set_effect(pair, pair.index < 2 ? 1.5 : 0);
     },
     "veto: without the best 2 of 12 pairs the saving is 0.0 %; at least half of 22 % is required "
     "(median 0.0 %)"},
};

// A small win in wide noise loses as much without its best pairs as it gains without its worst:
// no few of them carry it.
TEST(Outlier, DoesNotTakeWideNoiseForLuck) {
  const model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  for (auto& pair : evidence.pairs) set_effect(pair, 0.02 + 0.02 * (pair.index % 12 - 5.5));
  EXPECT_EQ(rule(log_ratios(evidence, pairs_for(evidence, "outlier"))), kDoubts);
  EXPECT_EQ(run(evidence).vote, model::Vote::kAgree) << run(evidence).because;
}

TEST(Outlier, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::outlier
