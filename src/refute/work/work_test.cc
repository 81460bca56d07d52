#include "refute/work/work.h"

#include <string_view>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::work {
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
    {"sound", [](Evidence&, model::Spec&) {}, "agree: both arms did the same work in all 12 pairs"},
    {"declared", [](Evidence&, model::Spec& s) { s.fixed_work = 50; },
     "agree: the spec declares the work of every run, 50 runs, the same in 12 pairs: "
     "work that is skipped shows only in the outputs"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(2); },
     "abstain: 2 pairs with the work of both arms, at least 3 are needed"},
    {"within the tolerance",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 50 + 0.01 * (pair.index % 3);
     },
     "agree: B does +0.02 % work against A over 12 pairs, within 0.5 % is asked (p "
     "8.241e-18 for keeping within)"},
    {"noisy",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 50 + 5 * (pair.index % 3);
     },
     "abstain: B does +9.54 % work against A over 12 pairs, within 0.5 % is asked (p "
     "0.999 for keeping within)"},
    {"skipped",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 37;
     },
     "veto: B does -26.00 % work against A over 12 pairs, within 0.5 % is asked (p "
     "1.00 for keeping within)"},
    {"never reported", [](Evidence& e, model::Spec& s) { report_metric(e, s); },
     "abstain: no pair reports how much work both arms did, and more pairs will not "
     "change that: report work through AMDAHL_REPORT, or set work_pattern or "
     "fixed_work in the spec"},
};

TEST(Work, SaysWhatItSees) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    model::Spec spec = sample_spec();
    Evidence evidence = sample_win(spec);
    c.spoil(evidence, spec);
    EXPECT_EQ(show(run(evidence)), c.want);
  }
}

TEST(Work, KnowsWhenPairsCannotHelp) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  report_metric(e, s);
  EXPECT_FALSE(pairs_help(e));
}

}  // namespace
}  // namespace amdahl::refute::work
