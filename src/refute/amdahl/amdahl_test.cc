#include "refute/amdahl/amdahl.h"

#include <limits>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::amdahl {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: the change can affect 50 % of the cost; the claimed saving is 10.0 % (at least 9.5 % "
     "at 95 %)"},
    {"no profile", [](Evidence& e, model::Spec&) { e.touched_share.reset(); },
     "abstain: no profile shows what share of the cost the change can affect"},
    {"everything", [](Evidence& e, model::Spec&) { e.touched_share = 1; },
     "agree: the change can affect 100 % of the cost; the claimed saving is 10.0 % (at least 9.5 % "
     "at 95 %)"},
    {"impossible", [](Evidence& e, model::Spec&) { e.touched_share = 0.04; },
     "veto: the change can affect 4.0 % of the cost; the claimed saving is 10.0 % (at least 9.5 % "
     "at 95 %)"},
    {"barely possible",
     [](Evidence& e, model::Spec&) {
       e.touched_share = 0.07;
       e.comparison.lower = 0.08;
     },
     "doubt: the change can affect 7.0 % of the cost; the claimed saving is 10.0 % (at least 7.7 % "
     "at 95 %): more than it can affect, over 12 pairs (by chance: p = 0.0002)"},
    {"barely possible, and noisy",
     [](Evidence& e, model::Spec&) {
       e.touched_share = 0.07;
       e.comparison.lower = 0.02;
       for (auto& pair : e.pairs) set_effect(pair, pair.index % 3 == 0 ? -0.1 : 0.2);
     },
     "abstain: the change can affect 7.0 % of the cost; the claimed saving is 10.0 % (at least 2.0 "
     "% at 95 %)"},
    {"no bound",
     [](Evidence& e, model::Spec&) {
       e.touched_share = 0.04;
       e.comparison.lower = -kInfinity;
     },
     "doubt: the change can affect 4.0 % of the cost; the claimed saving is 10.0 %: more than it "
     "can affect, over 12 pairs (by chance: p = 0.0002)"},
};

TEST(Amdahl, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::amdahl
