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
     "agree: A against A shows a saving of 0.0 % over 6 pairs (p 0.875 for a bias), "
     "where 10.0 % is claimed (p < 0.0001 for as much in A against A)"},
    {"too noisy to tell from the win",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, pair.index % 2 == 0 ? 0.16 : -0.09);
     },
     "abstain: A against A shows a saving of 3.4 % over 6 pairs (p 0.344 for a bias), "
     "where 10.0 % is claimed (p 0.514 for as much in A against A)"},
    {"too few", [](Evidence& e, model::Spec&) { e.same.resize(5); },
     "abstain: 5 A/A pairs counted, at least 6 are needed"},
    {"a void one", [](Evidence& e, model::Spec&) { e.same[0].voided = true; },
     "abstain: 5 A/A pairs counted, at least 6 are needed"},
    {"biased",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, 0.035 + 0.001 * pair.index);
     },
     "doubt: A against A shows a saving of 3.7 % over 6 pairs (p 0.0312 for a bias), "
     "where 10.0 % is claimed (p < 0.0001 for as much in A against A)"},
    {"as biased as the win",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, 0.09 + 0.001 * pair.index);
       top_up(e, "aa", 4, 0.1);
     },
     "veto: A against A shows a saving of 9.2 % over 10 pairs (p 0.00195 for a bias), "
     "where 10.0 % is claimed (p 0.000623 for as much in A against A)"},
    {"biased against the win",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) set_effect(pair, -0.09);
     },
     "abstain: A against A shows a saving of -9.4 % over 6 pairs (p 0.0312 for a "
     "bias), where 10.0 % is claimed (p < 0.0001 for as much in A against A)"},
    {"topped up",
     [](Evidence& e, model::Spec&) {
       e.same.resize(2);
       top_up(e, "aa", 12, -0.005);
     },
     "agree: A against A shows a saving of 0.0 % over 14 pairs (p 0.773 for a bias), "
     "where 10.0 % is claimed (p < 0.0001 for as much in A against A)"},
    {"A is dear in the pairs of the claim", [](Evidence& e, model::Spec&) { make_dearer(e, 0.12); },
     "abstain: A costs 13 % more in the pairs of the claim than against itself, where 10.0 % is "
     "claimed: the variant may slow what runs after it"},
    {"A is dear in every other pair of the claim",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index % 2 == 0) pair.a.cost *= std::exp(0.4);
       }
     },
     "abstain: A costs 22 % more in the pairs of the claim than against itself, where 10.0 % is "
     "claimed: the variant may slow what runs after it"},
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
     "agree: A against A shows a saving of 0.3 % over 18 pairs (p 0.00581 for a bias), "
     "where 10.0 % is claimed (p < 0.0001 for as much in A against A)"},
    {"A is cheap in the pairs of the claim",
     [](Evidence& e, model::Spec&) { make_dearer(e, -0.2); },
     "agree: A against A shows a saving of 0.0 % over 6 pairs (p 0.875 for a bias), "
     "where 10.0 % is claimed (p < 0.0001 for as much in A against A)"},
    {"A against A on no input of the claim",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.same) pair.stratum.clear();
     },
     "abstain: no A/A pair has the inputs that A had in the pairs of the claim"},
    {"the same pair in both lists",
     [](Evidence& e, model::Spec&) {
       e.same.resize(5);
       top_up(e, "aa", 1, 0);
       e.pairs.back().reservation = e.same[0].reservation = "r-1";
     },
     "abstain: 5 A/A pairs counted, at least 6 are needed"},
};

TEST(Aa, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::aa
