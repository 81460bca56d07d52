#include "refute/amdahl/amdahl.h"

#include <limits>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::amdahl {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: the change can touch 50 % of the cost and is said to save 10.0 %, at "
     "least 9.5 % at 95 %"},
    {"no profile", [](Evidence& e, model::Spec&) { e.touched_share.reset(); },
     "abstain: no profile says how much of the cost the change can touch"},
    {"everything", [](Evidence& e, model::Spec&) { e.touched_share = 1; },
     "agree: the change can touch 100 % of the cost and is said to save 10.0 %, at "
     "least 9.5 % at 95 %"},
    {"impossible", [](Evidence& e, model::Spec&) { e.touched_share = 0.04; },
     "veto: the change can touch 4.0 % of the cost and is said to save 10.0 %, at "
     "least 9.5 % at 95 %"},
    {"barely possible",
     [](Evidence& e, model::Spec&) {
       e.touched_share = 0.07;
       e.comparison.lower = 0.08;
     },
     "doubt: the change can touch 7.0 % of the cost and is said to save 10.0 %, at least 7.7 % at "
     "95 %: more than it can touch in 12 pairs (p 0.000244 for so much by chance)"},
    {"barely possible, and noisy",
     [](Evidence& e, model::Spec&) {
       e.touched_share = 0.07;
       e.comparison.lower = 0.02;
       for (auto& pair : e.pairs) set_effect(pair, pair.index % 3 == 0 ? -0.1 : 0.2);
     },
     "abstain: the change can touch 7.0 % of the cost and is said to save 10.0 %, at "
     "least 2.0 % at 95 %"},
    {"no bound",
     [](Evidence& e, model::Spec&) {
       e.touched_share = 0.04;
       e.comparison.lower = -kInfinity;
     },
     "doubt: the change can touch 4.0 % of the cost and is said to save 10.0 %: more than it can "
     "touch in 12 pairs (p 0.000244 for so much by chance)"},
};

TEST(Amdahl, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::amdahl
