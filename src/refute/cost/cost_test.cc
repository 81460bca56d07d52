#include "refute/cost/cost.h"

#include <string_view>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::cost {
namespace {

// A job that reports a metric but no work.
void report_metric(Evidence& e, model::Spec& s) {
  s.metric = "seconds";
  for (auto& pair : e.pairs) {
    pair.a.metric = 100;
    pair.b.metric = 90;
    pair.a.work.reset();
    pair.b.work.reset();
  }
}

struct Case {
  std::string_view name;
  void (*spoil)(Evidence&, model::Spec&);
  std::string_view want;
};

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: the whole bill falls by 9.2 % over 12 pairs, where a fall by half of 10.0 "
     "% is asked (p 0.000244 for falling)"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(4); },
     "abstain: 4 pairs with a bill for both arms, at least 5 are needed"},
    {"paid in CPU",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.cpu_s = 1500;
     },
     "veto: the whole bill rises by 11 % over 12 pairs, where a fall by half of 10.0 % "
     "is asked (p 1.00 for falling)"},
    {"half paid in CPU",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.cpu_s = 750;
     },
     "doubt: the whole bill falls by 2.7 % over 12 pairs, where a fall by half of 10.0 "
     "% is asked (p 0.000244 for falling)"},
    {"CPU is dear and noisy",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(6);
       e.price_cpu_hour = 1;
       for (auto& pair : e.pairs) pair.b.cpu_s = pair.index % 2 == 0 ? 100 : 700;
     },
     "abstain: the whole bill falls by 23 % over 6 pairs, where a fall by half of 10.0 "
     "% is asked (p 0.219 for falling)"},
    {"never reported", [](Evidence& e, model::Spec& s) { report_metric(e, s); },
     "abstain: no pair reports how much work both arms did, so no bill per unit of "
     "work can be made, and more pairs will not change that: report work through "
     "AMDAHL_REPORT"},
};

TEST(Cost, SaysWhatItSees) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    model::Spec spec = sample_spec();
    Evidence evidence = sample_win(spec);
    c.spoil(evidence, spec);
    EXPECT_EQ(show(run(evidence)), c.want);
  }
}

TEST(Cost, KnowsWhenPairsCannotHelp) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  report_metric(e, s);
  EXPECT_FALSE(pairs_help(e));
}

}  // namespace
}  // namespace amdahl::refute::cost
