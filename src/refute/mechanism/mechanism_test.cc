#include "refute/mechanism/mechanism.h"

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::mechanism {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: 100 % of the saved time is in 'load' over 12 pairs; at least 50 % is required"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(4); },
     "abstain: 4 pairs with a phase 'load'; at least 5 are needed"},
    {"by steps of one process",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.steps = {{false, 1.0, 0.9}};
     },
     "abstain: 0 pairs with a phase 'load' (12 do not count: both arms ran in one process); at "
     "least 5 are needed"},
    {"saved elsewhere",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (true) pair.b.phases["load"] = 90;
       }
     },
     "doubt: 0.0 % of the saved time is in 'load' over 12 pairs; at least 50 % is required"},
    {"partly saved elsewhere",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (true) pair.b.phases["load"] = 86;
       }
     },
     "abstain: 40 % of the saved time is in 'load' over 12 pairs; at least 50 % is required"},
    {"the phase is gone",
     [](Evidence& e, model::Spec&) {
       e.component = "warm-up";
       for (auto& pair : e.pairs) pair.a.phases["warm-up"] = 12;
     },
     "agree: 120 % of the saved time is in 'warm-up' over 12 pairs; at least 50 % is required"},
    {"no such phase", [](Evidence& e, model::Spec&) { e.component = "decode"; },
     "abstain: 0 pairs with a phase 'decode'; at least 5 are needed"},
    {"fewer accelerators, not less time",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (true) pair.b.wall_s = 101;
       }
     },
     "abstain: no time is saved over 12 pairs, so none is saved in 'load'"},
    {"per unit of work",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 100, pair.b.wall_s *= 2, pair.b.phases["load"] *= 2;
     },
     "agree: 100 % of the saved time is in 'load' over 12 pairs; at least 50 % is required"},
    {"per run, where no work is reported",
     [](Evidence& e, model::Spec& s) {
       s.metric = "seconds";
       for (auto& pair : e.pairs) {
         pair.a.metric = 100;
         pair.b.metric = 90;
         pair.a.work.reset();
       }
     },
     "agree: 100 % of the saved time is in 'load' over 12 pairs; at least 50 % is required"},
};

TEST(Mechanism, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt"); }

TEST(Mechanism, AppliesWhereThePhaseIsNamedAndReported) {
  const model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(applies(e));
  e.component = "decode";
  EXPECT_FALSE(applies(e));
  e.pairs[0].b.phases["decode"] = 1;
  EXPECT_TRUE(applies(e));
  e.component.clear();
  EXPECT_FALSE(applies(e));
}

}  // namespace
}  // namespace amdahl::refute::mechanism
