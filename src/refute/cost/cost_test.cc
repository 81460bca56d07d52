#include "refute/cost/cost.h"

#include <vector>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::cost {
namespace {

// A job whose claim is a number that it reports of itself, with or without its work.
void report_metric(Evidence& e, model::Spec& s) {
  s.metric = "seconds";
  for (auto& pair : e.pairs) {
    pair.a.metric = 100;
    pair.b.metric = 90;
  }
}

void report_no_work(Evidence& e) {
  for (auto& pair : e.pairs) {
    pair.a.work.reset();
    pair.b.work.reset();
  }
}

// What our own clock sees of each pair.
void measure(Evidence& e, double d) {
  for (auto& pair : e.pairs) set_effect(pair, d);
}

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: the total cost (CPU included) falls by 9.2 % over 12 pairs; a fall by at least half "
     "of 10.0 % is required (any fall: p = 0.0002)"},
    {"B's dear runs, whose partners' receipts are gone",
     [](Evidence& e, model::Spec&) {
       for (std::size_t i = 0; i < 6; ++i) {
         set_effect(e.pairs[i], -1.4);
         e.pairs[i].b.cpu_s *= 4;
         e.pairs[i].a = {};
         e.pairs[i].voided = e.pairs[i].b.failed = true;
       }
     },
     "veto: the total cost (CPU included) rises by 92 % over 12 pairs; a fall by at least half of "
     "10.0 % is required (any fall: p = 0.92)"},
    {"too few", [](Evidence& e, model::Spec&) { e.pairs.resize(4); },
     "abstain: 4 pairs with a total cost for both arms; at least 5 are needed"},
    {"paid in CPU",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.cpu_s = 1500;
     },
     "veto: the total cost (CPU included) rises by 11 % over 12 pairs; a fall by at least half of "
     "10.0 % is required (any fall: p = 1.00)"},
    {"half paid in CPU",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.cpu_s = 750;
     },
     "doubt: the total cost (CPU included) falls by 2.7 % over 12 pairs; a fall by at least half "
     "of 10.0 % is required (any fall: p = 0.0002)"},
    {"CPU is dear and noisy",
     [](Evidence& e, model::Spec&) {
       e.pairs.resize(6);
       e.price_cpu_hour = 1;
       for (auto& pair : e.pairs) pair.b.cpu_s = pair.index % 2 == 0 ? 100 : 700;
     },
     "abstain: the total cost (CPU included) falls by 23 % over 6 pairs; a fall by at least half "
     "of 10.0 % is required (any fall: p = 0.22)"},
    {"never reported",
     [](Evidence& e, model::Spec& s) {
       s.metric.clear();
       report_no_work(e);
     },
     "abstain: no pair reports the work of both arms, so there is no cost per unit of work; more "
     "pairs will not help: report work through AMDAHL_REPORT"},
    {"a metric that the clock confirms", report_metric,
     "agree: the total cost (CPU included) falls by 9.2 % over 12 pairs; a fall by at least half "
     "of 10.0 % is required (any fall: p = 0.0002)"},
    {"a metric without work that the clock confirms",
     [](Evidence& e, model::Spec& s) {
       report_metric(e, s);
       report_no_work(e);
     },
     "agree: the total cost (CPU included) falls by 9.2 % over 12 pairs; a fall by at least half "
     "of 10.0 % is required (any fall: p = 0.0002)"},
    {"a metric that was edited",
     [](Evidence& e, model::Spec& s) {
       report_metric(e, s);
       measure(e, 0);
     },
     "veto: by its own metric 'seconds' the job saves 10.0 %; by our clock it saves 0.0 % in "
     "accelerator-seconds over 12 pairs; at least half is required (less: p = 0.0002)"},
    {"a metric of which the clock sees a third",
     [](Evidence& e, model::Spec& s) {
       report_metric(e, s);
       measure(e, 0.035);
     },
     "veto: by its own metric 'seconds' the job saves 10.0 %; by our clock it saves 3.4 % in "
     "accelerator-seconds over 12 pairs; at least half is required (less: p = 0.0002)"},
    {"a metric of which the clock perhaps sees half",
     [](Evidence& e, model::Spec& s) {
       report_metric(e, s);
       for (auto& pair : e.pairs) set_effect(pair, pair.index % 2 == 0 ? 0.095 : 0.005);
     },
     "doubt: by its own metric 'seconds' the job saves 10.0 %; by our clock it saves 4.9 % in "
     "accelerator-seconds over 12 pairs; at least half is required (less: p = 0.081)"},
    {"by steps of one process",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.steps = {{false, 1.0, 0.9}};
     },
     "abstain: 0 pairs with a total cost for both arms (12 do not count: both arms ran in one "
     "process); at least 5 are needed"},
    {"by steps, with whole runs bought",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.steps = {{false, 1.0, 0.9}};
       top_up(e, "cost", 8, 0.1);
     },
     "agree: the total cost (CPU included) falls by 9.1 % over 8 pairs; a fall by at least half of "
     "10.0 % is required (any fall: p = 0.004)"},
};

TEST(Cost, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

TEST(Cost, TheClockMustSeeHalf) {
  const auto alternating = [](double one, double other) {
    return std::vector<double>{one, other, one, other, one, other};
  };
  EXPECT_EQ(clock_rule(std::vector<double>(4, 0.0), 0.1), kAbstains);
  EXPECT_EQ(clock_rule(alternating(0.06, 0.05), 0.1), kAgrees);
  EXPECT_EQ(clock_rule(alternating(0.09, 0.0), 0.1), kDoubts);  // Though p is 0.17 for less.
  EXPECT_EQ(clock_rule(std::vector<double>(6, 0.01), 0.1), kDoubts);
  EXPECT_EQ(clock_rule(std::vector<double>(7, 0.01), 0.1), kVetoes);
}

TEST(Cost, KnowsWhenPairsCannotHelp) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  report_no_work(e);
  EXPECT_FALSE(pairs_help(e));
  report_metric(e, s);
  EXPECT_TRUE(pairs_help(e));
}

}  // namespace
}  // namespace amdahl::refute::cost
