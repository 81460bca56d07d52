#include "refute/contention/contention.h"

#include <cmath>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute::contention {
namespace {

// Pairs bought with neighbours on the slots, which save `d` there.
void crowd(Evidence& e, double d, int pairs = 8) {
  top_up(e, "contention", pairs, d);
  for (auto& pair : e.pairs) pair.contended = pair.target == "contention";
}

// The claim was found beside neighbours who were there anyway.
void find_busy(Evidence& e) {
  for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = pair.b.foreign_cpu_cores = 1.5;
}

constexpr Case kCases[] = {
    {"not tested", [](Evidence&, model::Spec&) {},
     "abstain: 12 pairs on quiet hosts and 0 on busy hosts; at least 4 of each are needed"},
    {"too few", [](Evidence& e, model::Spec&) { crowd(e, 0.1, 1); },
     "abstain: 12 pairs on quiet hosts and 1 on busy hosts; at least 4 of each are needed"},
    {"few, but clear", [](Evidence& e, model::Spec&) { crowd(e, 0.1, 2); },
     "agree: saves 10.0 % on quiet hosts (12 pairs) and saves 9.6 % on busy hosts (2 pairs); at "
     "least half of 10.0 % is required on both; with 50 % of the fleet's hours on busy hosts it "
     "saves 9.8 % overall"},
    {"few, and less than half", [](Evidence& e, model::Spec&) { crowd(e, 0.04, 2); },
     "abstain: 12 pairs on quiet hosts and 2 on busy hosts; at least 4 of each are needed"},
    {"few, and a claim within the noise",
     [](Evidence& e, model::Spec&) {
       crowd(e, 0.1, 2);
       e.experiment.sigma = 0.06;
     },
     "abstain: 12 pairs on quiet hosts and 2 on busy hosts; at least 4 of each are needed"},
    {"not known",
     [](Evidence& e, model::Spec&) {
       for (auto& pair : e.pairs) {
         if (pair.index < 9) pair.a.foreign_cpu_cores = std::nan("");
       }
     },
     "abstain: 3 pairs on quiet hosts and 0 on busy hosts (9 unknown); at least 4 of each are "
     "needed"},
    {"in both states", [](Evidence& e, model::Spec&) { crowd(e, 0.09); },
     "agree: saves 10.0 % on quiet hosts (12 pairs) and saves 8.9 % on busy hosts (8 pairs); at "
     "least half of 10.0 % is required on both; with 50 % of the fleet's hours on busy hosts it "
     "saves 9.4 % overall"},
    {"as much lost when busy", [](Evidence& e, model::Spec&) { crowd(e, -0.19); },
     "doubt: saves 10.0 % on quiet hosts (12 pairs) and costs 21 % more on busy hosts (8 pairs, "
     "loss: p = 0.004); at least half of 10.0 % is required on both; with 50 % of the fleet's "
     "hours on busy hosts it costs 4.2 % more overall"},
    {"lost when busy, which is rare",
     [](Evidence& e, model::Spec&) {
       crowd(e, -0.19);
       e.busy_share = 0.2;
     },
     "agree: saves 10.0 % on quiet hosts (12 pairs) and costs 21 % more on busy hosts (8 pairs, "
     "loss: p = 0.004); at least half of 10.0 % is required on both; with 20 % of the fleet's "
     "hours on busy hosts it saves 4.6 % overall"},
    {"less when busy", [](Evidence& e, model::Spec&) { crowd(e, 0.01); },
     "agree: saves 10.0 % on quiet hosts (12 pairs) and saves 1.3 % on busy hosts (8 pairs); at "
     "least half of 10.0 % is required on both; with 50 % of the fleet's hours on busy hosts it "
     "saves 5.8 % overall"},
    {"nothing when busy", [](Evidence& e, model::Spec&) { crowd(e, -0.003); },
     "agree: saves 10.0 % on quiet hosts (12 pairs) and saves 0.0 % on busy hosts (8 pairs); at "
     "least half of 10.0 % is required on both; with 50 % of the fleet's hours on busy hosts it "
     "saves 5.1 % overall"},
    {"nothing when busy, which is usual",
     [](Evidence& e, model::Spec&) {
       crowd(e, -0.003);
       e.busy_share = 0.9;
     },
     "abstain: saves 10.0 % on quiet hosts (12 pairs) and saves 0.0 % on busy hosts (8 pairs); at "
     "least half of 10.0 % is required on both; with 90 % of the fleet's hours on busy hosts it "
     "saves 1.1 % overall"},
    {"found when busy, lost when quiet",
     [](Evidence& e, model::Spec&) {
       find_busy(e);
       top_up(e, "contention", 8, -0.19);
     },
     "doubt: costs 21 % more on quiet hosts (8 pairs, loss: p = 0.004) and saves 10.0 % on busy "
     "hosts (12 pairs); at least half of 10.0 % is required on both; with 50 % of the fleet's "
     "hours on busy hosts it costs 4.2 % more overall"},
};

TEST(Contention, SaysWhatItSees) { expect_says(kCases, run, "abstain agree doubt"); }

TEST(Contention, TellsBusyFromQuiet) {
  model::PairFact pair = sample_pair(0, 0.1);
  EXPECT_EQ(state_of(pair), State::kQuiet);
  pair.a.foreign_cpu_cores = 1.5;
  EXPECT_EQ(state_of(pair), State::kUnknown);  // Beside A alone.
  pair.b.foreign_cpu_cores = 1.5;
  EXPECT_EQ(state_of(pair), State::kBusy);
  // On CPUs of their own: they take nothing from the job.
  pair.a.run_delay_s = pair.b.run_delay_s = 0.001 * pair.a.wall_s;
  EXPECT_EQ(state_of(pair), State::kQuiet);
  pair.a.run_delay_s = pair.b.run_delay_s = 0.3 * pair.a.wall_s;
  EXPECT_EQ(state_of(pair), State::kBusy);
  pair.a.foreign_cpu_cores = pair.b.foreign_cpu_cores = 0;  // It waits for itself.
  EXPECT_EQ(state_of(pair), State::kQuiet);
  pair.a.steal_share = pair.b.steal_share = 0.2;
  EXPECT_EQ(state_of(pair), State::kBusy);
  pair = sample_pair(0, 0.1);
  pair.a.foreign_cpu_cores = pair.b.foreign_cpu_cores = std::nan("");
  EXPECT_EQ(state_of(pair), State::kUnknown);
  pair.contended = true;
  EXPECT_EQ(state_of(pair), State::kBusy);
}

TEST(Contention, SaysForThePersonWhereTheClaimHolds) {
  constexpr Case kStates[] = {
      {"quiet alone", [](Evidence&, model::Spec&) {}, "quiet hosts; busy hosts not tested"},
      {"both", [](Evidence& e, model::Spec&) { crowd(e, 0.09); }, "quiet and busy hosts"},
      {"a loss", [](Evidence& e, model::Spec&) { crowd(e, -0.194); },
       "quiet hosts only: 21 % slower on busy hosts (8 pairs)"},
      {"less", [](Evidence& e, model::Spec&) { crowd(e, 0.01); },
       "quiet hosts; on busy hosts it saves 1.3 % (8 pairs), less than half of 10.0 %"},
      {"busy alone", [](Evidence& e, model::Spec&) { find_busy(e); },
       "busy hosts; quiet hosts not tested"},
      {"busy, and a loss when quiet",
       [](Evidence& e, model::Spec&) {
         find_busy(e);
         top_up(e, "contention", 8, -0.194);
       },
       "busy hosts only: 21 % slower on quiet hosts (8 pairs)"},
      {"unknown",
       [](Evidence& e, model::Spec&) {
         for (auto& pair : e.pairs) pair.a.foreign_cpu_cores = std::nan("");
       },
       "unknown: no pair recorded how busy its host was"},
  };
  for (const Case& c : kStates) {
    SCOPED_TRACE(c.name);
    model::Spec spec = sample_spec();
    Evidence evidence = sample_win(spec);
    c.spoil(evidence, spec);
    EXPECT_EQ(holds_for(evidence), c.want);
  }
}

TEST(Contention, AsksForTheOtherStateOnce) {
  const model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  EXPECT_TRUE(pairs_help(e));
  EXPECT_TRUE(target_of("contention", e).contended);
  crowd(e, 0.1, 3);
  EXPECT_TRUE(pairs_help(e));
  crowd(e, 0.1, 1);
  for (auto& pair : e.pairs) pair.voided = pair.contended;  // Tried is enough.
  EXPECT_FALSE(pairs_help(e));
  EXPECT_TRUE(target_of("contention", e).contended);
}

TEST(Contention, NeighboursCannotBeSentAway) {
  const model::Spec s = sample_spec();
  Evidence e = sample_win(s);
  find_busy(e);
  EXPECT_FALSE(target_of("contention", e).contended);
  EXPECT_FALSE(pairs_help(e));
  e.pairs[3].a.foreign_cpu_cores = e.pairs[3].b.foreign_cpu_cores = 0;
  EXPECT_TRUE(pairs_help(e));  // They go by themselves at times.
}

}  // namespace
}  // namespace amdahl::refute::contention
