#include "refute/input/input.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::input {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: both arms read the same input in all 12 pairs"},
    {"not named", [](Evidence&, model::Spec& s) { s.inputs.clear(); },
     "abstain: the spec names no inputs, and more pairs will not change that: add "
     "inputs, the paths or globs to fingerprint"},
    {"no fingerprints",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.input_fingerprint.reset();
     },
     "abstain: none of 12 pairs has fingerprints of both arms' inputs"},
    {"one unknown", [](Evidence& e, model::Spec&) { e.pairs[3].b.input_fingerprint.reset(); },
     "agree: inputs are known in 11 of 12 pairs and differ in 0; with their size taken "
     "out: 10.0 % saved over 11 pairs, where half of 10.0 % is asked (p 1.00 for less)"},
    {"differ without reason",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.input_fingerprint = "2f";
     },
     "agree: inputs are known in 12 of 12 pairs and differ in 12; with their size "
     "taken out: 10.0 % saved over 12 pairs, where half of 10.0 % is asked (p 1.00 for "
     "less)"},
    {"smaller",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.input_fingerprint = "2f", pair.b.input_bytes = 900;
     },
     "veto: inputs are known in 12 of 12 pairs and differ in 12; with their size taken "
     "out: 0.0 % saved over 12 pairs, where half of 10.0 % is asked (p 0.000244 for "
     "less)"},
    {"some smaller",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(5);
       for (auto& pair : e.pairs) pair.b.input_fingerprint = "2f", pair.b.input_bytes = 900;
     },
     "doubt: inputs are known in 5 of 5 pairs and differ in 5; with their size taken "
     "out: 0.0 % saved over 5 pairs, where half of 10.0 % is asked (p 0.0312 for less)"},
    {"too few",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(4);
       e.pairs[0].b.input_fingerprint = "2f";
     },
     "abstain: inputs are known in 4 of 4 pairs and differ in 1; with their size taken "
     "out: 4 pairs counted, at least 5 are needed"},
};

TEST(Input, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

TEST(Input, KnowsWhenPairsCannotHelp) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  s.inputs.clear();
  EXPECT_FALSE(pairs_help(e));
}

}  // namespace
}  // namespace amdahl::refute::input
