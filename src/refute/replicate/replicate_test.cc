#include "refute/replicate/replicate.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::replicate {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: 10.0 % saved over 5 fresh pairs, where half of 10.0 % is asked (p 1.00 "
     "for less), E 23.0 of 4"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(11); },
     "abstain: 4 fresh pairs counted, at least 5 are needed"},
    {"unclear",
     [](Evidence& e, model::Spec&) {
       for (int i = 7; i < 12; ++i) set_effect(e.pairs[at(i)], i % 2 == 0 ? -0.08 : 0.15);
     },
     "abstain: 3.4 % saved over 5 fresh pairs, where half of 10.0 % is asked (p 0.312 "
     "for less), E 0.159 of 4"},
    {"gone",
     [](Evidence& e, model::Spec&) {
       for (int i = 7; i < 12; ++i) set_effect(e.pairs[at(i)], 0.001 * i);
     },
     "doubt: 0.9 % saved over 5 fresh pairs, where half of 10.0 % is asked (p 0.0312 "
     "for less), E 6.55 of 4"},
    {"gone for good",
     [](Evidence& e, model::Spec&) {
       for (int i = 7; i < 12; ++i) set_effect(e.pairs[at(i)], 0.001 * i);
       top_up(e, "replicate", 8, 0);
     },
     "veto: 0.5 % saved over 13 fresh pairs, where half of 10.0 % is asked (p 0.000122 "
     "for less), E 45.2 of 4"},
    {"bought for another check",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(11);
       top_up(e, "host", 8, 0.1);
     },
     "abstain: 4 fresh pairs counted, at least 5 are needed"},
};

TEST(Replicate, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::replicate
