#include "refute/work/work.h"

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

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {}, "agree: both arms did the same work in all 12 pairs"},
    {"declared", [](Evidence&, model::Spec& s) { s.fixed_work = 50; },
     "agree: the spec declares 50 runs of work for every run, so 12 pairs have equal work: skipped "
     "work would show only in the outputs"},
    {"declared, and large", [](Evidence&, model::Spec& s) { s.fixed_work = 1e7; },
     "agree: the spec declares 10000000 runs of work for every run, so 12 pairs have equal work: "
     "skipped work would show only in the outputs"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(2); },
     "abstain: 2 pairs with the work of both arms; at least 3 are needed"},
    {"within the tolerance",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 50 + 0.01 * (pair.index % 3);
     },
     "agree: B does +0.02 % work relative to A over 12 pairs; at most 0.5 % less is tolerated "
     "(within that: p < 0.0001)"},
    {"noisy",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 50 + 2 * (pair.index % 3 - 1);
     },
     "abstain: B does -0.08 % work relative to A over 12 pairs; at most 0.5 % less is tolerated "
     "(within that: p = 0.33)"},
    {"more, but of other inputs",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 60, pair.b.input_fingerprint = "2f";
     },
     "abstain: B does +20.00 % work relative to A over 12 pairs; at most 0.5 % less is tolerated "
     "(within that: p = 1.00)"},
    {"more than there is to do",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 60;
     },
     "veto: B reports +20.00 % work relative to A over 12 pairs with the same input, which is "
     "impossible; at most 0.5 % is tolerated"},
    {"left to a daemon",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.left_behind = 1;
     },
     "veto: only B leaves processes running in 12 of 12 pairs, only A in 0: their remaining work "
     "is missing from the cost of B"},
    {"left to a daemon by arms that share a process, as whole runs for another check show",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         pair.steps = {{true, 1, 0.9}};
         pair.a.left_behind = pair.b.left_behind = 1;
       }
       top_up(e, "cost", 8, 0.1);
       for (auto& pair : e.pairs) {
         if (pair.target == "cost") pair.b.left_behind = 1;
       }
     },
     "veto: only B leaves processes running in 8 of 8 pairs, only A in 0: their remaining work is "
     "missing from the cost of B"},
    {"left to a daemon at times",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.left_behind = pair.index < 5 ? 2 : 0;
     },
     "doubt: only B leaves processes running in 5 of 12 pairs, only A in 0: their remaining work "
     "is missing from the cost of B"},
    {"both leave some",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.left_behind = pair.b.left_behind = 2;
     },
     "agree: both arms did the same work in all 12 pairs"},
    {"a straggler once", [](Evidence& e, model::Spec&) { e.pairs[0].b.left_behind = 1; },
     "agree: both arms did the same work in all 12 pairs"},
    {"skipped and left to a daemon",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 37, pair.b.left_behind = 1;
     },
     "veto: B does -26.00 % work relative to A over 12 pairs; at most 0.5 % less is tolerated "
     "(within that: p = 1.00)"},
    {"never reported, left to a daemon",
     [](Evidence& e, model::Spec& s) {
       report_metric(e, s);
       for (auto& pair : e.pairs) pair.b.left_behind = 1;
     },
     "veto: only B leaves processes running in 12 of 12 pairs, only A in 0: their remaining work "
     "is missing from the cost of B"},
    {"skipped",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.work = 37;
     },
     "veto: B does -26.00 % work relative to A over 12 pairs; at most 0.5 % less is tolerated "
     "(within that: p = 1.00)"},
    {"never reported", [](Evidence& e, model::Spec& s) { report_metric(e, s); },
     "abstain: no pair reports the work of both arms, and more pairs will not help: report work "
     "through AMDAHL_REPORT, or set work_pattern or fixed_work in the spec"},
};

TEST(Work, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

TEST(Work, ProcessesLeftBehindAreWeighed) {
  EXPECT_EQ(rule(LeftoverProcesses{.only_a = 0, .only_b = 2, .pairs = 2}),
            kAgrees);  // Too few to tell.
  EXPECT_EQ(rule(LeftoverProcesses{.only_a = 0, .only_b = 3, .pairs = 6}), kVetoes);
  EXPECT_EQ(rule(LeftoverProcesses{.only_a = 0, .only_b = 3, .pairs = 7}), kAgrees);
  EXPECT_EQ(rule(LeftoverProcesses{.only_a = 0, .only_b = 4, .pairs = 12}), kDoubts);
  EXPECT_EQ(rule(LeftoverProcesses{.only_a = 0, .only_b = 7, .pairs = 40}), kVetoes);
  EXPECT_EQ(rule(LeftoverProcesses{.only_a = 2, .only_b = 6, .pairs = 8}), kAgrees);  // So does A.
  EXPECT_EQ(rule(LeftoverProcesses{.only_a = 6, .only_b = 0, .pairs = 8}), kAgrees);
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
