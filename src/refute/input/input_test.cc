#include "refute/input/input.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::input {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: both arms read the same input in all 12 pairs"},
    {"not named", [](Evidence&, model::Spec& s) { s.inputs.clear(); },
     "abstain: the spec names no inputs, so more pairs will not help: list the input files (paths "
     "or globs) under inputs"},
    {"no fingerprints",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.input_fingerprint.reset();
     },
     "abstain: none of 12 pairs has fingerprints of both arms' inputs"},
    {"one unknown", [](Evidence& e, model::Spec&) { e.pairs[3].b.input_fingerprint.reset(); },
     "agree: inputs are known in 11 of 12 pairs and differ in 0; adjusted for their size: "
     "saves 10.0 % over 11 pairs; at least half of 10.0 % is required (less: p = 1.00)"},
    {"differ without reason",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.input_fingerprint = "2f";
     },
     "agree: inputs are known in 12 of 12 pairs and differ in 12; adjusted for their size: "
     "saves 10.0 % over 12 pairs; at least half of 10.0 % is required (less: p = 1.00)"},
    {"smaller",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.input_fingerprint = "2f", pair.b.input_bytes = 900;
     },
     "veto: inputs are known in 12 of 12 pairs and differ in 12; adjusted for their size: "
     "saves 0.0 % over 12 pairs; at least half of 10.0 % is required (less: p = 0.0002)"},
    {"some smaller",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(5);
       for (auto& pair : e.pairs) pair.b.input_fingerprint = "2f", pair.b.input_bytes = 900;
     },
     "doubt: inputs are known in 5 of 5 pairs and differ in 5; adjusted for their size: saves 0.0 "
     "% over 5 pairs; at least half of 10.0 % is required (less: p = 0.031)"},
    {"too few",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(4);
       e.pairs[0].b.input_fingerprint = "2f";
     },
     "abstain: inputs are known in 4 of 4 pairs and differ in 1; adjusted for their size: 4 pairs "
     "counted; at least 5 are needed"},
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
