#include "canary/canary.h"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "canary/fake_production.h"

namespace amdahl::canary {
namespace {

using model::Canary;
using model::CanaryResult;
using model::CanaryState;

Canary numbered(int number, int one_in = 10) {
  Canary canary = terms();
  canary.hypothesis = fmt::format("h-{}", number);
  canary.seed = fmt::format("seed {}", number);
  canary.number = number;
  canary.one_in = one_in;
  return canary;
}

// Production without noise: 600 s without the change, `with_s` with it.
std::vector<Watched> calm(const Canary& canary, int runs, double with_s) {
  FakeProduction production({canary}, {.fails = 0, .fails_with = 0}, 1);
  for (int i = 0; i < runs; ++i) production.next();
  for (Watched& run : production.runs()) {
    const double seconds = run.usage.canary.held_back.empty() ? with_s : 600;
    run.usage.end = run.usage.start + from_seconds(seconds);
  }
  return production.runs();
}

TEST(Judge, AChangeIsNotKeptWhileNeighboursWaitForARunThatIsNotOver) {
  Canary canary = numbered(0);
  canary.wanted_runs = 200;
  std::vector<Watched> runs = calm(canary, 230, 1200);
  EXPECT_EQ(peek(canary, runs).outcome, CanaryState::kRollbackProposed) << "twice as dear";
  const std::string host = runs[0].usage.host;
  const int first = slot_pair_of(canary, host, 0).partner();
  for (Watched& run : runs) {
    if (run.usage.canary.slot != first) continue;
    run.state = RunState::kRunning;
    run.usage.end = {};
  }
  EXPECT_EQ(peek(canary, runs).outcome, CanaryState::kOpen) << "nothing is known of it yet";
  for (Watched& run : runs) {
    if (run.usage.canary.slot == first) run.state = RunState::kLost;
  }
  EXPECT_EQ(peek(canary, runs).outcome, CanaryState::kRollbackProposed);
}

TEST(SlotPair, HoldsBackExactlyOneRunOfEachBlock) {
  for (const int one_in : {2, 3, 4, 5, 10, 20}) {
    SCOPED_TRACE(one_in);
    const Canary canary = numbered(0, one_in);
    int second = 0;
    std::set<int> places;
    for (int block = 0; block < 400; ++block) {
      int held = 0;
      for (int slot = block * one_in; slot < (block + 1) * one_in; ++slot) {
        const auto left_out = held_back(std::vector{canary}, "vm", slot);
        EXPECT_EQ(left_out.value_or("h-0"), "h-0");
        held += left_out ? 1 : 0;
      }
      EXPECT_EQ(held, 1) << block;
      const SlotPair couple = slot_pair_of(canary, "vm", block);
      second += couple.second_held_back ? 1 : 0;
      places.insert(couple.first - block * one_in);
    }
    EXPECT_NEAR(second, 200, 50) << "the coin is fair";
    EXPECT_GE(static_cast<int>(places.size()), one_in > 2 ? one_in - 2 : 1)
        << "a job that comes in a rhythm of its own must not always meet the same place";
  }
}

TEST(SlotPair, OfDifferentCanariesDoNotMeet) {
  const std::vector<Canary> open{numbered(0), numbered(1), numbered(2), numbered(3)};
  for (int block = 0; block < 100; ++block) {
    std::set<int> slots;
    for (const Canary& canary : open) {
      const SlotPair couple = slot_pair_of(canary, "vm", block);
      EXPECT_TRUE(slots.insert(couple.held_back()).second);
      EXPECT_TRUE(slots.insert(couple.partner()).second);
      EXPECT_EQ(held_back(open, "vm", couple.held_back()), canary.hypothesis);
      EXPECT_EQ(held_back(open, "vm", couple.partner()), std::nullopt);
    }
    EXPECT_GE(*slots.begin(), block * 10);
    EXPECT_LT(*slots.rbegin(), block * 10 + 10);
  }
}

TEST(SlotPair, TheOlderCanaryHasTheSlotThatTwoWant) {
  const std::vector<Canary> open{numbered(0), numbered(4)};
  for (int block = 0; block < 50; ++block) {
    const SlotPair couple = slot_pair_of(open[0], "vm", block);
    EXPECT_EQ(couple.first, slot_pair_of(open[1], "vm", block).first);
    EXPECT_EQ(held_back(open, "vm", couple.held_back()), "h-0");
    EXPECT_EQ(held_back(open, "vm", couple.partner()), std::nullopt);
  }
}

TEST(SlotPair, HostsAndSeedsDrawApart) {
  const Canary canary = numbered(0);
  Canary other = canary;
  other.seed = "another";
  int hosts_differ = 0;
  int seeds_differ = 0;
  for (int block = 0; block < 100; ++block) {
    const SlotPair here = slot_pair_of(canary, "vm", block);
    hosts_differ += here.held_back() != slot_pair_of(canary, "vm2", block).held_back() ? 1 : 0;
    seeds_differ += here.held_back() != slot_pair_of(other, "vm", block).held_back() ? 1 : 0;
  }
  EXPECT_GT(hosts_differ, 50);
  EXPECT_GT(seeds_differ, 25);
}

TEST(Judge, ComparesEachHeldBackRunWithItsNeighbour) {
  const CanaryResult result = judge(terms(), calm(terms(), 60, 480));
  EXPECT_EQ(result.outcome, CanaryState::kOpen);
  EXPECT_EQ(result.comparison.pairs, 6);
  EXPECT_EQ(result.comparison.voided, 0);
  EXPECT_NEAR(result.comparison.effect, std::log(600.0 / 480), 1e-9);
  EXPECT_EQ(result.runs, 54);
  EXPECT_EQ(result.held_back, 6);
  EXPECT_EQ(result.because,
            "54 of 200 runs: saves 20 % (17 % to 23 %, 95 % confidence each side, 6 pairs); 0 of "
            "54 runs failed with it, 4 of 106 without");
}

TEST(Judge, ProposesToRollBackWhatIsDearer) {
  const CanaryResult result = judge(terms(), calm(terms(), 80, 690));
  EXPECT_EQ(result.outcome, CanaryState::kRollbackProposed);
  EXPECT_EQ(result.because,
            "in production it costs 15 % more (13 % to 17 %, 95 % confidence each side, 8 pairs); "
            "E for higher cost is 172, alarm at 20");
}

TEST(Judge, ProposesToRollBackWhatFails) {
  std::vector<Watched> runs = calm(terms(), 40, 480);
  for (std::size_t i = 0; i < runs.size(); i += 4) runs[i].usage.failed = true;
  const CanaryResult result = judge(terms(), runs);
  EXPECT_EQ(result.outcome, CanaryState::kRollbackProposed);
  EXPECT_EQ(result.because,
            "10 of 36 runs failed with it, 4 of 104 without; E for more failures is 272, alarm "
            "at 100");
}

TEST(Judge, ProposesToRollBackWhatStraggles) {
  Canary canary = terms();
  std::vector<Watched> runs = calm(canary, 80, 560);
  for (std::size_t i = 0; i < runs.size(); i += 8) runs[i].usage.end += std::chrono::seconds(400);
  EXPECT_EQ(judge(canary, runs).outcome, CanaryState::kOpen) << "nobody knows what is usual";
  canary.straggles_from = 0.25;
  canary.past_stragglers = 1;
  const CanaryResult result = judge(canary, runs);
  EXPECT_EQ(result.outcome, CanaryState::kRollbackProposed);
  EXPECT_EQ(result.because,
            "9 of 72 runs took 28 % longer than typical with it, 1 of 96 before; E for more "
            "stragglers is 160, alarm at 100");
  runs.resize(20);
  EXPECT_EQ(judge(canary, runs).log_e_straggling, 0) << "too few to tell what is typical";

  canary.wanted_runs = 40;
  runs = calm(canary, 80, 560);
  for (std::size_t i = 48; i < runs.size(); i += 3) {
    runs[i].usage.end += std::chrono::seconds(400);
  }
  EXPECT_EQ(judge(canary, runs).stragglers, 0) << "a burst long after it went live is no tail";
}

TEST(Tail, IsMeasuredByWhatIsTypical) {
  std::vector<model::Usage> past(60);
  for (std::size_t i = 0; i < past.size(); ++i) {
    past[i].end = std::chrono::seconds(600 + i % 5);
    past[i].work = 10;
  }
  past[7].end = std::chrono::seconds(900);
  past[8].failed = true;
  const auto tail = tail_of(past);
  ASSERT_TRUE(tail);
  EXPECT_DOUBLE_EQ(tail->straggles_from, 0.25) << "little noise: 28 % more is far";
  EXPECT_EQ(tail->stragglers, 1);
  past.resize(40);
  EXPECT_FALSE(tail_of(past));
}

TEST(Judge, KeepsWhatNothingSpeaksAgainst) {
  Canary canary = terms();
  canary.wanted_runs = 9;
  canary.promised = 0.02;
  EXPECT_EQ(judge(canary, calm(canary, 79, 600)).outcome, CanaryState::kOpen)
      << "wanted, and neither proven nor refuted: the runs cost nothing";
  const CanaryResult result = judge(canary, calm(canary, 80, 600));
  EXPECT_EQ(result.outcome, CanaryState::kKept);
  EXPECT_EQ(result.runs, 72);
  EXPECT_EQ(result.comparison.pairs, 8);
}

TEST(Judge, KeepsEarlyWhatHoldsHalfOfItsPromise) {
  const CanaryResult result = judge(terms(), calm(terms(), 112, 480));
  EXPECT_EQ(result.outcome, CanaryState::kKept);
  EXPECT_LT(result.runs, terms().wanted_runs);
  EXPECT_EQ(result.because,
            "at least half of the promised saving is proven after 101 runs (E is 1,292, threshold "
            "20): saves 20 % (19 % to 21 %, 95 % confidence each side, 11 pairs); 0 of 101 runs "
            "failed with it, 4 of 111 without");
}

// Looking only at what is over would leave out the slow runs of the slower arm.
TEST(Judge, WaitsForTheFirstCoupleThatIsNotOver) {
  std::vector<Watched> runs = calm(terms(), 60, 480);
  const SlotPair third = slot_pair_of(terms(), "vm", 2);
  runs[static_cast<std::size_t>(third.partner())].state = RunState::kRunning;
  const CanaryResult result = judge(terms(), runs);
  EXPECT_EQ(result.comparison.pairs, 2);
  EXPECT_EQ(result.running, 1);
  EXPECT_EQ(result.runs, 53);
}

TEST(Judge, ALostRunHasFailedAndVoidsItsCouple) {
  std::vector<Watched> runs = calm(terms(), 60, 480);
  const SlotPair third = slot_pair_of(terms(), "vm", 2);
  runs[static_cast<std::size_t>(third.partner())].state = RunState::kLost;
  const CanaryResult result = judge(terms(), runs);
  EXPECT_EQ(result.comparison.pairs, 5);
  EXPECT_EQ(result.comparison.voided, 1);
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(result.lost, 1);
}

TEST(Judge, VoidsWhatCannotBeCompared) {
  struct Case {
    const char* name;
    void (*spoil)(model::Usage& held, model::Usage& with);
  };
  constexpr Case kCases[] = {
      {"it failed", [](model::Usage&, model::Usage& with) { with.failed = true; }},
      {"no work", [](model::Usage& held, model::Usage&) { held.work.reset(); }},
      {"zero work", [](model::Usage& held, model::Usage&) { held.work = 0; }},
      {"no time", [](model::Usage& held, model::Usage&) { held.end = held.start; }},
      {"the coin was not honoured",
       [](model::Usage& held, model::Usage&) {
         held.canary.held_back.clear();
         held.canary.changes = {"h-1"};
       }},
      {"the baseline moved between them",
       [](model::Usage&, model::Usage& with) { with.canary.changes.push_back("h-2"); }},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    std::vector<Watched> runs = calm(terms(), 60, 480);
    const SlotPair third = slot_pair_of(terms(), "vm", 2);
    c.spoil(runs[static_cast<std::size_t>(third.held_back())].usage,
            runs[static_cast<std::size_t>(third.partner())].usage);
    const CanaryResult result = judge(terms(), runs);
    EXPECT_EQ(result.comparison.pairs, 5);
    EXPECT_EQ(result.comparison.voided, 1);
  }
}

TEST(Judge, ComparesCostPerWorkAndCostWhereNoneIsReported) {
  std::vector<Watched> runs = calm(terms(), 60, 600);
  for (Watched& run : runs) {
    if (run.usage.canary.held_back.empty()) run.usage.work = 20;
  }
  EXPECT_NEAR(judge(terms(), runs).comparison.effect, std::log(2.0), 1e-9);
  for (Watched& run : runs) run.usage.work.reset();
  EXPECT_NEAR(judge(terms(), runs).comparison.effect, 0, 1e-9);
  for (Watched& run : runs) run.usage.accelerators = run.usage.canary.held_back.empty() ? 1 : 4;
  EXPECT_NEAR(judge(terms(), runs).comparison.effect, std::log(4.0), 1e-9);
}

TEST(Judge, PassesOverRunsFromBeforeThePromotion) {
  std::vector<Watched> runs = calm(terms(), 60, 480);
  for (std::size_t i = 0; i < 25; ++i) {
    runs[i].usage.canary.changes.clear();
    runs[i].usage.canary.held_back.clear();
    runs[i].usage.failed = true;
  }
  const CanaryResult result = judge(terms(), runs);
  EXPECT_EQ(result.failed, 0);
  EXPECT_EQ(result.comparison.voided, 0) << "a couple astride of the promotion is none";
  EXPECT_GE(result.comparison.pairs, 3);
  EXPECT_LE(result.comparison.pairs, 4);
}

TEST(Judge, NothingYetIsNoReasonToAct) {
  const CanaryResult result = judge(terms(), {});
  EXPECT_EQ(result.outcome, CanaryState::kOpen);
  EXPECT_EQ(result.because,
            "0 of 200 runs: no pair yet; 0 of 0 runs failed with it, 4 of 100 without");
}

TEST(Judge, TwoCanariesAtOnceAreEachSeenForWhatTheyDo) {
  const std::vector<Canary> open{numbered(0), numbered(1)};
  FakeProduction production(open, {}, 1);
  for (int i = 0; i < 80; ++i) production.next();
  for (Watched& run : production.runs()) {
    double seconds = 600;
    for (const std::string& change : run.usage.canary.changes) {
      seconds *= change == "h-0" ? 0.8 : 1.25;
    }
    run.usage.end = run.usage.start + from_seconds(seconds);
    run.usage.failed = false;
  }
  EXPECT_NEAR(judge(open[0], production.runs()).comparison.effect, std::log(1 / 0.8), 1e-9);
  EXPECT_NEAR(judge(open[1], production.runs()).comparison.effect, std::log(1 / 1.25), 1e-9);
  EXPECT_EQ(judge(open[1], production.runs()).outcome, CanaryState::kRollbackProposed);
}

TEST(Noise, ComesFromNeighboursOfOneHost) {
  std::vector<model::Usage> past;
  for (int i = 0; i < 12; ++i) {
    model::Usage usage;
    usage.host = "vm";
    usage.start = std::chrono::hours(i);
    usage.end = usage.start + from_seconds(i % 2 == 0 ? 100 : 110);
    past.push_back(usage);
  }
  ASSERT_TRUE(noise_of(past));
  EXPECT_NEAR(*noise_of(past), 1.4826 * std::log(1.1), 1e-9);
  past.pop_back();
  EXPECT_EQ(noise_of(past), std::nullopt);
}

}  // namespace
}  // namespace amdahl::canary
