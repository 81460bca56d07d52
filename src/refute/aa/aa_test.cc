#include "refute/aa/aa.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::aa {
namespace {

void make_dearer(Evidence& e, double by) {
  for (auto& pair : e.pairs) {
    pair.a.cost *= std::exp(by);
    pair.b.cost *= std::exp(by);
  }
}

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: A against A saves 0.0 % over 6 pairs (bias: p = 0.88); the claim is 10.0 % (larger "
     "than A "
     "against A: p < 0.0001)"},
    {"too noisy to tell from the win",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, pair.index % 2 == 0 ? 0.16 : -0.09);
     },
     "abstain: A against A saves 3.4 % over 6 pairs (bias: p = 0.34); the claim is 10.0 % (larger "
     "than A "
     "against A: p = 0.51)"},
    {"too few", [](Evidence& e, model::Spec&) { e.same.resize(5); },
     "abstain: 5 A/A pairs counted; at least 6 are needed"},
    {"a void one", [](Evidence& e, model::Spec&) { e.same[0].voided = true; },
     "abstain: 5 A/A pairs counted; at least 6 are needed"},
    {"biased",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, 0.035 + 0.001 * pair.index);
     },
     "doubt: A against A saves 3.7 % over 6 pairs (bias: p = 0.031); the claim is 10.0 % (larger "
     "than A "
     "against A: p < 0.0001)"},
    {"as biased as the win",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, 0.09 + 0.001 * pair.index);
       top_up(e, "aa", 12, 0.1);
     },
     "veto: A against A saves 9.6 % over 18 pairs (bias: p < 0.0001); the claim is 10.0 % "
     "(larger than A against A: p = 0.098)"},
    {"as biased as the win, by pairs that may be chance",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, 0.09 + 0.001 * pair.index);
       top_up(e, "aa", 4, 0.1);
     },
     "doubt: A against A saves 9.2 % over 10 pairs (bias: p = 0.002); the claim is 10.0 % (larger "
     "than A "
     "against A: p = 0.0006)"},
    {"a bias that did not come again",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, 0.09 + 0.001 * pair.index);
       top_up(e, "aa", 12, -0.005);
     },
     "agree: A against A saves 4.3 % over 18 pairs (bias: p = 0.022); the claim is 10.0 % "
     "(larger than A against A: p < 0.0001)"},
    {"biased against the win, perhaps by chance",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, pair.index == 0 ? 0.02 : -0.06);
     },
     "agree: A against A costs 6.2 % more over 6 pairs (bias: p = 0.062); the claim is 10.0 % "
     "(larger than A against A: p < 0.0001)"},
    {"biased against the win",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, -0.09);
     },
     "abstain: A against A costs 9.4 % more over 6 pairs (bias: p = 0.031); the claim is 10.0 % "
     "(larger than "
     "A against A: p < 0.0001)"},
    {"topped up",
     [](Evidence& e, model::Spec&) {
       e.same.resize(2);
       top_up(e, "aa", 12, -0.005);
     },
     "agree: A against A saves 0.0 % over 14 pairs (bias: p = 0.77); the claim is 10.0 % (larger "
     "than A "
     "against A: p < 0.0001)"},
    {"A is dear in the pairs of the claim", [](Evidence& e, model::Spec&) { make_dearer(e, 0.12); },
     "abstain: A costs 13 % more in the claim's pairs than in A/A pairs, and the claim is 10.0 %: "
     "the variant may slow the run after it"},
    {"A is dear in every other pair of the claim",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index % 2 == 0) pair.a.cost *= std::exp(0.4);
       }
     },
     "abstain: A costs 22 % more in the claim's pairs than in A/A pairs, and the claim is 10.0 %: "
     "the variant may slow the run after it"},
    {"the host wandered, as pairs bought after the claim show",
     [](Evidence& e, model::Spec&) {
       make_dearer(e, 0.12);
       top_up(e, "aa", 12, 0);
       for (auto& pair : e.pairs) {
         if (pair.target != "aa") continue;
         pair.a.cost *= std::exp(0.10);
         pair.b.cost *= std::exp(0.10);
       }
     },
     "agree: A against A saves 0.3 % over 18 pairs (bias: p = 0.006); the claim is 10.0 % (larger "
     "than A "
     "against A: p < 0.0001)"},
    {"the host wandered on, but not from the last pairs to the A/A pairs after them",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         const double by = pair.index < 4 ? 0.5 : 0.02;
         pair.a.cost *= std::exp(by);
         pair.b.cost *= std::exp(by);
       }
       top_up(e, "aa", 12, 0);
     },
     "agree: A against A saves 0.3 % over 18 pairs (bias: p = 0.005); the claim is 10.0 % (larger "
     "than A against A: p < 0.0001)"},
    {"what the variant spoils stays so in the A/A pairs after it",
     [](Evidence& e, model::Spec&) {
       make_dearer(e, 0.5);
       top_up(e, "aa", 12, 0);
       for (auto& pair : e.pairs) {
         if (pair.target != "aa") continue;
         pair.a.cost *= std::exp(0.5);
         pair.b.cost *= std::exp(0.5);
       }
     },
     "abstain: A costs 65 % more in the claim's pairs than in A/A pairs, and the claim is 10.0 %: "
     "the variant may have spoiled for good what A uses (a cache, a file, a setting), and more "
     "pairs "
     "will not help"},
    {"what the variant spoils stays so, soon after the A/A pairs before it",
     [](Evidence& e, model::Spec&) {
       make_dearer(e, 0.15);
       top_up(e, "aa", 12, 0);
       for (auto& pair : e.same) pair.a.started_s = e.pairs.front().a.started_s - 60;
       for (auto& pair : e.pairs) {
         if (pair.target != "aa") continue;
         pair.a.cost *= std::exp(0.15);
         pair.b.cost *= std::exp(0.15);
       }
     },
     "abstain: A costs 16 % more in the claim's pairs than in A/A pairs, and the claim is 10.0 %: "
     "the variant may have spoiled for good what A uses (a cache, a file, a setting), and more "
     "pairs "
     "will not help"},
    {"A was dear in all pairs but the last, in which the claim is gone",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index < 4) pair.a.cost *= std::exp(0.5);
         if (pair.index >= 4) set_effect(pair, 0.01);
       }
       top_up(e, "aa", 12, 0);
     },
     "abstain: A costs 28 % more in the claim's pairs than in A/A pairs, and the claim is 10.0 "
     "%: the variant may slow the run after it"},
    {"A is cheap in the pairs of the claim",
     [](Evidence& e, model::Spec&) { make_dearer(e, -0.2); },
     "agree: A against A saves 0.0 % over 6 pairs (bias: p = 0.88); the claim is 10.0 % (larger "
     "than A "
     "against A: p < 0.0001)"},
    {"A against A on no input of the claim",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) pair.stratum.clear();
     },
     "abstain: no A/A pair ran on the inputs that the claim's pairs ran on"},
    {"the same pair in both lists",
     [](Evidence& e, model::Spec&) {
       e.same.resize(5);
       top_up(e, "aa", 1, 0);
       e.pairs.back().reservation = e.same[0].reservation = "r-1";
     },
     "abstain: 5 A/A pairs counted; at least 6 are needed"},
};

TEST(Aa, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::aa
