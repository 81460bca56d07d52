#include "refute/design/design.h"

#include <cmath>

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
     "= 0.0005, E 315)"},
    {"by steps of one process",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(1);
       e.pairs[0].steps = {{true, 1, 0.9}, {false, 1, 0.9}, {false, 1, 0.9},
                           {true, 1, 0.9}, {true, 1, 0.9},  {false, 1, 0.9}};
     },
     "agree: 6 of 6 pairs ran in the assigned order; the variant ran second in 3 (unfair coin: p = "
     "1.00)"},
    {"twelve heads, which a fair coin shows once in 2,048 times",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.ran_variant_second = pair.variant_second = true;
     },
     "abstain: 12 of 12 pairs ran in the assigned order; the variant ran second in 12 (unfair "
     "coin: "
     "p = 0.0005, E 315)"},
    {"twelve heads, and tails among the targeted pairs",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.ran_variant_second = pair.variant_second = true;
       top_up(e, "design", 8, 0.1);
       for (auto& pair : e.pairs) {
         if (pair.index >= 102) pair.ran_variant_second = pair.variant_second = false;
       }
     },
     "agree: 20 of 20 pairs ran in the assigned order; the variant ran second in 13 (unfair coin: "
     "p "
     "= 0.26)"},
    {"the coin was always heads",
     [](Evidence& e, model::Spec&) {
       top_up(e, "design", 2, 0.1);
       for (auto& pair : e.pairs) pair.ran_variant_second = pair.variant_second = true;
     },
     "veto: 14 of 14 pairs ran in the assigned order; the variant ran second in 14 (unfair coin: p "
     "= 0.0001, E 1,092)"},
};

// The mean of E over fair coins is 1, whenever one stops.
TEST(Design, TheBetAgainstAFairCoinIsFair) {
  for (const int n : {1, 6, 20}) {
    double mean = 0;
    for (int k = 0; k <= n; ++k) {
      const double ways =
          std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
      mean += ways * std::pow(0.5, n) * std::exp(log_e_unfair(k, n));
    }
    EXPECT_NEAR(mean, 1, 1e-9) << n;
  }
}

TEST(Design, SaysWhatItSees) { expect_says(kCases, run, "abstain agree veto"); }

}  // namespace
}  // namespace amdahl::refute::design
