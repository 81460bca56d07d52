#include "refute/host/host.h"

#include <cmath>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::host {
namespace {

// B does with one core what A does with two, and something else runs on the other one.
void leave_a_core(model::PairFact& pair) {
  pair.a.accelerators = 2;
  pair.b.accelerators = 1;
  pair.a.cpu_s = 1.9 * pair.a.wall_s;
  pair.b.cpu_s = pair.b.wall_s;
  pair.a.foreign_cpu_cores = 0.1;
  pair.b.foreign_cpu_cores = 0.9;
}

constexpr Case kCases[] = {
    {"sound", [](Evidence&, model::Spec&) {},
     "agree: 12 of 12 pairs on one host, 12 undisturbed: saves 10.0 % over 12 undisturbed pairs; "
     "at least half of 10.0 % is required (less: p = 1.00)"},
    {"unknown",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.host.reset();
     },
     "abstain: no pair recorded the hosts of its arms"},
    {"busy beside both arms",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = pair.b.foreign_cpu_cores = 2;
     },
     "agree: 12 of 12 pairs on one host, 12 undisturbed: saves 10.0 % over 12 undisturbed pairs; "
     "at least half of 10.0 % is required (less: p = 1.00)"},
    {"others take the cores that it left",
     [](Evidence& e, model::Spec&) {
       e.only_fewer = true;
       for (auto& pair : e.pairs) leave_a_core(pair);
     },
     "agree: 12 of 12 pairs on one host, 12 undisturbed: saves 10.0 % over 12 undisturbed pairs; "
     "at least half of 10.0 % is required (less: p = 1.00)"},
    {"others take cores beside a changed program",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) leave_a_core(pair);
     },
     "abstain: 12 of 12 pairs on one host, 0 undisturbed: 0 undisturbed pairs counted; at least 5 "
     "are needed"},
    {"others take more cores than it left",
     [](Evidence& e, model::Spec&) {
       e.only_fewer = true;
       for (auto& pair : e.pairs) leave_a_core(pair);
       for (auto& pair : e.pairs) pair.b.foreign_cpu_cores = 2;
     },
     "abstain: 12 of 12 pairs on one host, 0 undisturbed: 0 undisturbed pairs counted; at least 5 "
     "are needed"},
    {"too short to see neighbours",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = std::nan("");
       for (auto& pair : e.pairs) pair.a.wall_s = pair.b.wall_s = 0.05;
     },
     "agree: 12 of 12 pairs on one host, 12 undisturbed: saves 10.0 % over 12 undisturbed pairs; "
     "at least half of 10.0 % is required (less: p = 1.00)"},
    {"neighbours come and go",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.foreign_cpu_cores = pair.index % 2 == 0 ? 1.5 : 0;
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = pair.index % 2 == 0 ? 0 : 1.5;
     },
     "abstain: 12 of 12 pairs on one host, 0 undisturbed: 0 undisturbed pairs counted; at least 5 "
     "are needed"},
    {"never observed",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = std::nan("");
     },
     "abstain: 12 of 12 pairs on one host, 0 undisturbed: 0 undisturbed pairs counted; at least 5 "
     "are needed"},
    {"stolen",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.steal_share = 0.1;
     },
     "abstain: 12 of 12 pairs on one host, 0 undisturbed: 0 undisturbed pairs counted; at least 5 "
     "are needed"},
    {"always apart",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.host = "n2";
     },
     "doubt: 0 of 12 pairs on one host, 0 undisturbed: 0 undisturbed pairs counted; at least 5 are "
     "needed"},
    {"A had neighbours",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = 1 + 0.01 * pair.index;
     },
     "doubt: other processes used 1.06 more cores while A ran than while B ran, over 12 pairs (p = "
     "0.0002): B looks faster than it is"},
    {"nothing in undisturbed pairs",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs)
         if (pair.index < 8)
           set_effect(pair, 0);
         else
           pair.a.steal_share = 0.2;
     },
     "veto: 12 of 12 pairs on one host, 8 undisturbed: saves 0.0 % over 8 undisturbed pairs; at "
     "least half of 10.0 % is required (less: p = 0.004)"},
    {"little in undisturbed pairs",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs)
         if (pair.index < 5)
           set_effect(pair, 0);
         else
           pair.a.steal_share = 0.2;
     },
     "doubt: 12 of 12 pairs on one host, 5 undisturbed: saves 0.0 % over 5 undisturbed pairs; at "
     "least half of 10.0 % is required (less: p = 0.031)"},
    {"one host of two",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 6) continue;
         pair.a.host = pair.b.host = "n2";
         set_effect(pair, 0.004);
       }
     },
     "doubt: without host n1 it saves 0.4 % over 6 undisturbed pairs; at least half of 10.0 % is "
     "required (less: p = 0.031): one host carries the win"},
    {"one host of three, for sure",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 10) continue;
         pair.a.host = pair.b.host = pair.index % 2 == 0 ? "n2" : "n3";
         set_effect(pair, 0.004);
       }
     },
     "veto: without host n1 it saves 0.4 % over 10 undisturbed pairs; at least half of 10.0 % is "
     "required (less: p = 0.003): one host carries the win"},
    {"no host of two",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index % 2 == 0) pair.a.host = pair.b.host = "n2";
         set_effect(pair, 0.004);
       }
     },
     "veto: 12 of 12 pairs on one host, 12 undisturbed: saves 0.4 % over 12 undisturbed pairs; at "
     "least half of 10.0 % is required (less: p = 0.0002)"},
    {"both hosts",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index < 6) pair.a.host = pair.b.host = "n2";
       }
     },
     "agree: 12 of 12 pairs on one host, 12 undisturbed: saves 10.0 % over 12 undisturbed pairs; "
     "at least half of 10.0 % is required (less: p = 1.00)"},
    {"two pairs elsewhere",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index < 2) pair.a.host = pair.b.host = "n2";
       }
     },
     "agree: 12 of 12 pairs on one host, 12 undisturbed: saves 10.0 % over 12 undisturbed pairs; "
     "at least half of 10.0 % is required (less: p = 1.00)"},
    {"a few pairs elsewhere that all miss",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 3) continue;
         pair.a.host = pair.b.host = "n2";
         set_effect(pair, 0.004);
       }
     },
     "doubt: without host n1 it saves 0.4 % over 3 undisturbed pairs; at least half of 10.0 % is "
     "required. Host n1 saves more than the others (p = 0.009): run more pairs on other hosts"},
    {"few pairs elsewhere, one of them lucky",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index >= 4) continue;
         pair.a.host = pair.b.host = "n2";
         set_effect(pair, pair.index == 0 ? 0.08 : 0.004);
       }
     },
     "doubt: without host n1 it saves 0.4 % over 4 undisturbed pairs; at least half of 10.0 % is "
     "required. Host n1 saves more than the others (p = 0.004): run more pairs on other hosts"},
    {"topped up",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) pair.b.host = "n2";
       top_up(e, "host", 8, 0.1);
     },
     "agree: 8 of 20 pairs on one host, 8 undisturbed: saves 9.8 % over 8 undisturbed pairs; at "
     "least half of 10.0 % is required (less: p = 1.00)"},
};

TEST(Host, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt veto"); }

TEST(Host, KnowsWhenPairsCannotHelp) {
  model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  for (auto& pair : e.pairs) pair.b.foreign_cpu_cores = 2;
  EXPECT_TRUE(pairs_help(e));
  top_up(e, "host", target_of("host").pairs, 0.1);
  EXPECT_TRUE(pairs_help(e));
  for (auto& pair : e.pairs) pair.b.foreign_cpu_cores = 2;  // As busy as the others.
  EXPECT_FALSE(pairs_help(e));
  for (auto& pair : e.pairs) pair.b.foreign_cpu_cores = 0;
  for (auto& pair : e.pairs) pair.a.host.reset();
  EXPECT_FALSE(pairs_help(e));
}

}  // namespace
}  // namespace amdahl::refute::host
