#include "refute/host/host.h"

#include <cmath>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::host {
namespace {

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: 12 of 12 pairs on one host, 12 clean: 10.0 % saved over 12 clean pairs, "
     "where half of 10.0 % is asked (p 1.00 for less)"},
    {"unknown",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.host.reset();
     },
     "abstain: no pair says on which hosts its arms ran"},
    {"busy beside both arms",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = pair.b.foreign_cpu_cores = 2;
     },
     "agree: 12 of 12 pairs on one host, 12 clean: 10.0 % saved over 12 clean pairs, "
     "where half of 10.0 % is asked (p 1.00 for less)"},
    {"too short to see neighbours",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = std::nan("");
       for (auto& pair : e.pairs) pair.a.wall_s = pair.b.wall_s = 0.05;
     },
     "agree: 12 of 12 pairs on one host, 12 clean: 10.0 % saved over 12 clean pairs, "
     "where half of 10.0 % is asked (p 1.00 for less)"},
    {"neighbours come and go",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.foreign_cpu_cores = pair.index % 2 == 0 ? 1.5 : 0;
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = pair.index % 2 == 0 ? 0 : 1.5;
     },
     "abstain: 12 of 12 pairs on one host, 0 clean: 0 clean pairs counted, at least 5 "
     "are needed"},
    {"never observed",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = std::nan("");
     },
     "abstain: 12 of 12 pairs on one host, 0 clean: 0 clean pairs counted, at least 5 "
     "are needed"},
    {"stolen",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.steal_share = 0.1;
     },
     "abstain: 12 of 12 pairs on one host, 0 clean: 0 clean pairs counted, at least 5 "
     "are needed"},
    {"always apart",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.host = "n2";
     },
     "doubt: 0 of 12 pairs on one host, 0 clean: 0 clean pairs counted, at least 5 are "
     "needed"},
    {"A had neighbours",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = 1 + 0.01 * pair.index;
     },
     "doubt: others used 1.06 cores more beside A than beside B over 12 pairs (p "
     "0.000244 for more), which makes B look faster"},
    {"nothing in clean pairs",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs)
         if (pair.index < 8)
           set_effect(pair, 0);
         else
           pair.a.steal_share = 0.2;
     },
     "veto: 12 of 12 pairs on one host, 8 clean: 0.0 % saved over 8 clean pairs, where "
     "half of 10.0 % is asked (p 0.00391 for less)"},
    {"little in clean pairs",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs)
         if (pair.index < 5)
           set_effect(pair, 0);
         else
           pair.a.steal_share = 0.2;
     },
     "doubt: 12 of 12 pairs on one host, 5 clean: 0.0 % saved over 5 clean pairs, "
     "where half of 10.0 % is asked (p 0.0312 for less)"},
    {"one host of two",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 6) continue;
         pair.a.host = pair.b.host = "n2";
         set_effect(pair, 0.004);
       }
     },
     "doubt: without n1 it saves 0.4 % over 6 clean pairs, where half of 10.0 % is asked (p "
     "0.0312 for less): one host carries the win"},
    {"one host of three, for sure",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 10) continue;
         pair.a.host = pair.b.host = pair.index % 2 == 0 ? "n2" : "n3";
         set_effect(pair, 0.004);
       }
     },
     "veto: without n1 it saves 0.4 % over 10 clean pairs, where half of 10.0 % is asked (p "
     "0.00293 for less): one host carries the win"},
    {"no host of two",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index % 2 == 0) pair.a.host = pair.b.host = "n2";
         set_effect(pair, 0.004);
       }
     },
     "veto: 12 of 12 pairs on one host, 12 clean: 0.4 % saved over 12 clean pairs, where half of "
     "10.0 % is asked (p 0.000244 for less)"},
    {"both hosts",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index < 6) pair.a.host = pair.b.host = "n2";
       }
     },
     "agree: 12 of 12 pairs on one host, 12 clean: 10.0 % saved over 12 clean pairs, where "
     "half of 10.0 % is asked (p 1.00 for less)"},
    {"two pairs elsewhere",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index < 2) pair.a.host = pair.b.host = "n2";
       }
     },
     "agree: 12 of 12 pairs on one host, 12 clean: 10.0 % saved over 12 clean pairs, where "
     "half of 10.0 % is asked (p 1.00 for less)"},
    {"a few pairs elsewhere that all miss",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 3) continue;
         pair.a.host = pair.b.host = "n2";
         set_effect(pair, 0.004);
       }
     },
     "doubt: without n1 it saves 0.4 % over 3 clean pairs, where half of 10.0 % is asked and n1 "
     "saves more (p 0.00909 for as much elsewhere): more pairs are needed elsewhere"},
    {"few pairs elsewhere, one of them lucky",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 4) continue;
         pair.a.host = pair.b.host = "n2";
         set_effect(pair, pair.index == 0 ? 0.08 : 0.004);
       }
     },
     "doubt: without n1 it saves 0.4 % over 4 clean pairs, where half of 10.0 % is asked and n1 "
     "saves more (p 0.00404 for as much elsewhere): more pairs are needed elsewhere"},
    {"topped up",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.host = "n2";
       top_up(e, "host", 8, 0.1);
     },
     "agree: 8 of 20 pairs on one host, 8 clean: 9.8 % saved over 8 clean pairs, where "
     "half of 10.0 % is asked (p 1.00 for less)"},
};

TEST(Host, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

TEST(Host, KnowsWhenPairsCannotHelp) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  for (auto& pair : e.pairs) pair.a.host.reset();
  EXPECT_FALSE(pairs_help(e));
}

}  // namespace
}  // namespace amdahl::refute::host
