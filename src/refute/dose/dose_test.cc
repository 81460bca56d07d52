#include "refute/dose/dose.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::dose {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: workers: saves 5.8 % at 2, saves 8.6 % at 4, saves 10.0 % at 8; rank correlation "
     "+1.00 over 3 values; at least +0.5 is required"},
    {"two doses", [](Evidence& e, model::Spec&) { e.doses.resize(2); },
     "abstain: workers: saves 5.8 % at 2, saves 8.6 % at 4; at least 3 values are needed"},
    {"one dose", [](Evidence& e, model::Spec&) { e.doses.resize(1); },
     "abstain: the knob was tested at one value only"},
    {"more of it helps less",
     [](Evidence& e, model::Spec&) {
       e.doses[0].effect = 0.2;
       e.doses[1].effect = 0.15;
     },
     "doubt: workers: saves 18 % at 2, saves 14 % at 4, saves 10.0 % at 8; rank correlation -1.00 "
     "over 3 values; at least +0.5 is required"},
    {"more of it harms", [](Evidence& e, model::Spec&) { e.doses[2].effect = -0.1; },
     "doubt: workers: saves 5.8 % at 2, saves 8.6 % at 4, costs 11 % more at 8; rank correlation "
     "-0.50 over 3 values; at least +0.5 is required"},
    {"no trend",
     [](Evidence& e, model::Spec&) {
       e.doses = {
           {"workers", 1, 0.1}, {"workers", 2, 0.05}, {"workers", 4, 0.02}, {"workers", 8, 0.08}};
     },
     "abstain: workers: saves 9.5 % at 1, saves 4.9 % at 2, saves 2.0 % at 4, saves 7.7 % at 8; "
     "rank correlation -0.40 over 4 values; at least +0.5 is required"},
    {"all the same",
     [](Evidence& e, model::Spec&) {
       for (auto& dose : e.doses) dose.effect = 0.1;
     },
     "abstain: workers: saves 9.5 % at 2, saves 9.5 % at 4, saves 9.5 % at 8; the values or the "
     "effects do not differ"},
};

TEST(Dose, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt"); }

TEST(Dose, AppliesWhereAKnobWasTurnedTwice) {
  const model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(applies(e));
  e.doses.resize(1);
  EXPECT_FALSE(applies(e));
}

}  // namespace
}  // namespace amdahl::refute::dose
