#include "refute/replicate/replicate.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::replicate {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: saves 10.0 % over 5 fresh pairs; at least half of 10.0 % is required (less: p = "
     "1.00); E 23.0, 4 is required"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(11); },
     "abstain: 4 fresh pairs counted; at least 5 are needed"},
    {"unclear",
     [](Evidence& e, model::Spec&) {
       for (int i = 7; i < 12; ++i) set_effect(e.pairs[at(i)], i % 2 == 0 ? -0.08 : 0.15);
     },
     "abstain: saves 3.4 % over 5 fresh pairs; at least half of 10.0 % is required (less: p = "
     "0.31); E 0.16, 4 is required"},
    {"gone",
     [](Evidence& e, model::Spec&) {
       for (int i = 7; i < 12; ++i) set_effect(e.pairs[at(i)], 0.001 * i);
     },
     "doubt: saves 0.9 % over 5 fresh pairs; at least half of 10.0 % is required (less: p = "
     "0.031); E 6.55, 4 is required"},
    {"gone for good",
     [](Evidence& e, model::Spec&) {
       for (int i = 7; i < 12; ++i) set_effect(e.pairs[at(i)], 0.001 * i);
       top_up(e, "replicate", 8, 0);
     },
     "veto: saves 0.5 % over 13 fresh pairs; at least half of 10.0 % is required (less: p = "
     "0.0001); E 45.2, 4 is required"},
    {"bought for another check",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(11);
       top_up(e, "host", 8, 0.1);
     },
     "abstain: 4 fresh pairs counted; at least 5 are needed"},
};

TEST(Replicate, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

}  // namespace
}  // namespace amdahl::refute::replicate
