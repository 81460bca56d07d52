#include "refute/design/design.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::design {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: 12 of 12 pairs ran in the assigned order; the variant ran second in 6 (unfair coin: p "
     "= 1.00)"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(5); },
     "abstain: 5 pairs counted; at least 6 are needed"},
    {"the coin was ignored",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.ran_variant_second = true;
     },
     "veto: 6 of 12 pairs ran in the assigned order; the variant ran second in 12 (unfair coin: p "
     "= 0.0005)"},
    {"by steps of one process",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(1);
       e.pairs[0].steps = {{true, 1, 0.9}, {false, 1, 0.9}, {false, 1, 0.9},
                           {true, 1, 0.9}, {true, 1, 0.9},  {false, 1, 0.9}};
     },
     "agree: 6 of 6 pairs ran in the assigned order; the variant ran second in 3 (unfair coin: p = "
     "1.00)"},
    {"the coin was always heads",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.ran_variant_second = pair.variant_second = true;
     },
     "veto: 12 of 12 pairs ran in the assigned order; the variant ran second in 12 (unfair coin: p "
     "= 0.0005)"},
};

TEST(Design, SaysWhatItSees) { expect_says(kCases, run, "abstain agree veto"); }

}  // namespace
}  // namespace amdahl::refute::design
