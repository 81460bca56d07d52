#include "refute/quality/quality.h"

#include <cmath>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::quality {
namespace {

// Every pair reports an accuracy that the variant changes by `gain`.
void measure(Evidence& e, model::Spec& s, double gain) {
  s.quality.push_back({"accuracy", 0.01, true});
  for (auto& pair : e.pairs) {
    pair.a.quality["accuracy"] = 0.9;
    pair.b.quality["accuracy"] = 0.9 + gain + 0.001 * (pair.index % 3 - 1);
  }
}

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {}, "agree: outputs are identical in all 12 pairs"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(4); },
     "abstain: outputs are equal in 4 pairs and missing in 0; at least 5 equal and none missing "
     "are needed"},
    {"A left no output", [](Evidence& e, model::Spec&) { e.pairs[3].a.output_digest.reset(); },
     "abstain: outputs are equal in 11 pairs and missing in 1; at least 5 equal and none missing "
     "are needed"},
    {"outputs differ", [](Evidence& e, model::Spec&) { e.pairs[3].b.output_digest = "ff"; },
     "veto: outputs differ in 1 of 12 pairs and the spec has no [[quality]] metric with a "
     "tolerance"},
    {"B left no output", [](Evidence& e, model::Spec&) { e.pairs[3].b.output_digest.reset(); },
     "veto: outputs differ in 1 of 12 pairs and the spec has no [[quality]] metric with a "
     "tolerance"},
    {"outputs always differ",
     [](Evidence& e, model::Spec&) {
       e.pairs[3].b.output_digest = "ff";
       e.same[0].b.output_digest = "ee";
     },
     "abstain: outputs differ in 1 pair, but also between runs of A, so digests prove nothing and "
     "more pairs will not help: add [[quality]] to the spec"},
    {"by steps of one process",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.steps = {{false, 1.0, 0.9}};
     },
     "abstain: outputs are equal in 0 pairs and missing in 0 (12 do not count: both arms ran in "
     "one process); at least 5 equal and none missing are needed"},
    {"measured by steps of one process",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, 0.001);
       s.outputs.clear();
       for (auto& pair : e.pairs) pair.steps = {{false, 1.0, 0.9}};
     },
     "abstain: 0 of 0 pairs have accuracy in both arms (12 do not count: both arms ran in one "
     "process); at least 5 are needed"},
    {"nothing is named", [](Evidence&, model::Spec& s) { s.outputs.clear(); },
     "abstain: the spec names no outputs, so more pairs will not help: add [[outputs]] or "
     "[[quality]]"},
    {"nothing is digested", [](Evidence&, model::Spec& s) { s.outputs[0].digest = false; },
     "abstain: the spec digests none of its outputs, so more pairs will not help: add [[outputs]] "
     "or [[quality]]"},
    {"as good",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, 0.001);
       s.outputs.clear();
     },
     "agree: accuracy is better by 0.001 on average over 12 pairs; up to 0.01 worse is allowed "
     "(within that: p < 0.0001)"},
    {"as good though outputs differ",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, 0.001);
       e.pairs[3].b.output_digest = "ff";
     },
     "agree: accuracy is better by 0.001 on average over 12 pairs; up to 0.01 worse is allowed "
     "(within that: p < 0.0001)"},
    {"worse",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, -0.02);
       s.outputs.clear();
     },
     "veto: accuracy is worse by 0.02 on average over 12 pairs; up to 0.01 worse is allowed "
     "(within that: p = 1.00)"},
    {"lower is better",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, 0.02);
       s.outputs.clear();
       s.quality[0].higher_is_better = false;
     },
     "veto: accuracy is worse by 0.02 on average over 12 pairs; up to 0.01 worse is allowed "
     "(within that: p = 1.00)"},
    {"worse though outputs are equal", [](Evidence& e, model::Spec& s) { measure(e, s, -0.02); },
     "veto: accuracy is worse by 0.02 on average over 12 pairs; up to 0.01 worse is allowed "
     "(within that: p = 1.00)"},
    {"the worst metric counts",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, 0.001);
       s.outputs.clear();
       s.quality.push_back({"loss", 0.1, false});
     },
     "abstain: 0 of 12 pairs have loss in both arms; at least 5 are needed"},
    {"undecided",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, -0.005);
       s.outputs.clear();
       e.pairs.resize(5);
       for (auto& pair : e.pairs) pair.b.quality["accuracy"] += 0.03 * (1 - pair.index % 3);
     },
     "abstain: accuracy is better by 0.0008 on average over 5 pairs; up to 0.01 worse is allowed "
     "(within that: p = 0.19)"},
    {"worse, perhaps by chance",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, 0);
       s.outputs.clear();
       e.pairs.resize(5);
       for (auto& pair : e.pairs) {
         pair.b.quality["accuracy"] = 0.9 - (pair.index % 2 == 0 ? 0.002 : 0.03);
       }
     },
     "doubt: accuracy is worse by 0.0132 on average over 5 pairs; up to 0.01 worse is allowed "
     "(within that: p = 0.67)"},
    {"diverged",
     [](Evidence& e, model::Spec& s) {
       measure(e, s, 0.001);
       e.pairs[4].b.quality["accuracy"] = std::nan("");
     },
     "veto: accuracy is nan in B and 0.9 in A of pair 4"},
    {"not measured but equal",
     [](Evidence&, model::Spec& s) {
       s.quality.push_back({"loss", 0.1, false});
     },
     "agree: outputs are identical in all 12 pairs"},
};

TEST(Quality, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

TEST(Quality, KnowsWhenPairsCannotHelp) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  s.outputs.clear();
  EXPECT_FALSE(pairs_help(e));
}

}  // namespace
}  // namespace amdahl::refute::quality
