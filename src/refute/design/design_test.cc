#include "refute/design/design.h"

#include <string_view>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::design {
namespace {

struct Case {
  std::string_view name;
  void (*spoil)(Evidence&, model::Spec&);
  std::string_view want;
};

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: 12 of 12 pairs ran in the assigned order, the variant second in 6 (p 1.00 "
     "for an unfair coin)"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(5); },
     "abstain: 5 pairs counted, at least 6 are needed"},
    {"the coin was ignored",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.ran_variant_second = true;
     },
     "veto: 6 of 12 pairs ran in the assigned order, the variant second in 12 (p "
     "0.000488 for an unfair coin)"},
    {"the coin was always heads",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.variant_second = pair.ran_variant_second = true;
     },
     "veto: 12 of 12 pairs ran in the assigned order, the variant second in 12 (p "
     "0.000488 for an unfair coin)"},
};

TEST(Design, SaysWhatItSees) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    model::Spec spec = sample_spec();
    Evidence evidence = sample_win(spec);
    c.spoil(evidence, spec);
    EXPECT_EQ(show(run(evidence)), c.want);
  }
}

}  // namespace
}  // namespace amdahl::refute::design
