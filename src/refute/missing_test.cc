// missing_test.cc: no check agrees about what it did not see.
#include <functional>

#include <gtest/gtest.h>

#include "refute/sample.h"

namespace amdahl::refute {
namespace {

using model::ArmFact;
using model::PairFact;

// One kind of evidence, and who speaks of it.
struct Kind {
  std::string_view name;
  void (*remove)(ArmFact&);
  std::vector<std::string_view> checks;
};

const Kind kKinds[] = {
    {"work", [](ArmFact& arm) { arm.work.reset(); }, {"work", "cost"}},
    {"no work done", [](ArmFact& arm) { arm.work = 0; }, {"work", "cost"}},
    {"work that is no number", [](ArmFact& arm) { arm.work = std::nan(""); }, {"work", "cost"}},
    {"outputs", [](ArmFact& arm) { arm.output_digest.reset(); }, {"quality"}},
    {"outputs that cannot be read",
     [](ArmFact& arm) { arm.output_digest = model::Observed<std::string>::unreadable("no right"); },
     {"quality"}},
    {"quality", [](ArmFact& arm) { arm.quality.clear(); }, {"quality"}},
    {"inputs", [](ArmFact& arm) { arm.input_fingerprint.reset(); }, {"input"}},
    {"host", [](ArmFact& arm) { arm.host.reset(); }, {"host"}},
    {"neighbours", [](ArmFact& arm) { arm.foreign_cpu_cores.reset(); }, {"host", "contention"}},
    {"neighbours that are no number",
     [](ArmFact& arm) { arm.foreign_cpu_cores = std::nan(""); },
     {"host", "contention"}},
    {"stolen time", [](ArmFact& arm) { arm.steal_share.reset(); }, {"host", "contention"}},
    {"phases", [](ArmFact& arm) { arm.phases.clear(); }, {"mechanism"}},
};

enum class Side { kA, kB, kBoth };

// A win whose number is the job's own, so that a pair counts whatever else is not known of it; on
// busy hosts too; with a metric of quality if `measured`, else with outputs.
Evidence known_win(model::Spec& spec, bool measured) {
  spec.metric = "loss";
  if (measured) {
    spec.outputs.clear();
    spec.quality.push_back({"accuracy", 0.01, true});
  }
  Evidence evidence = sample_win(spec);
  top_up(evidence, "contention", 6, 0.105);
  for (PairFact& pair : evidence.pairs) {
    if (!pair.target.empty()) pair.a.foreign_cpu_cores = pair.b.foreign_cpu_cores = 1.5;
    pair.a.quality["accuracy"] = pair.b.quality["accuracy"] = 0.9;
    pair.a.metric = pair.a.cost;
    pair.b.metric = pair.b.cost;
  }
  for (PairFact& pair : evidence.same) pair.a.metric = pair.b.metric = 100;
  evidence.comparison = compare::judge(compare::resolved_prefix(evidence.pairs, {}, spec),
                                       compare::design_of(evidence.experiment));
  return evidence;
}

std::string vote_of(std::string_view check, const Evidence& evidence) {
  for (const Check& row : checks()) {
    if (row.id == check) return show(row.run(evidence));
  }
  return "no such check";
}

bool agrees(const std::string& said) { return said.starts_with("agree"); }

TEST(Missing, TheWholeWinIsAgreedOnByAll) {
  for (const bool measured : {false, true}) {
    model::Spec spec = sample_spec();
    const Evidence evidence = known_win(spec, measured);
    for (const model::Finding& finding : ask_all(evidence)) {
      EXPECT_EQ(finding.vote, model::Vote::kAgree) << finding.check << ": " << finding.because;
    }
  }
}

// Of one arm or both, in all pairs or in every third.
TEST(Missing, NoCheckAgreesAboutWhatItDidNotSee) {
  for (const Kind& kind : kKinds) {
    for (const Side side : {Side::kA, Side::kB, Side::kBoth}) {
      for (const int every : {1, 3}) {
        model::Spec spec = sample_spec();
        Evidence evidence = known_win(spec, kind.name == "quality");
        for (PairFact& pair : evidence.pairs) {
          if (pair.index % every != 0) continue;
          if (side != Side::kB) kind.remove(pair.a);
          if (side != Side::kA) kind.remove(pair.b);
        }
        for (const std::string_view check : kind.checks) {
          const std::string said = vote_of(check, evidence);
          // Runs that do not say their work are billed as runs, if neither arm does.
          if (check == "cost" && side == Side::kBoth) continue;
          // Busy and quiet hosts may still be five each of those that are known.
          if (check == "contention" && every > 1) continue;
          // Twelve of eighteen clean pairs are enough to tell: it says so of those.
          if (check == "host" && every > 1 && kind.name != "host") continue;
          EXPECT_FALSE(agrees(said)) << kind.name << ", side " << static_cast<int>(side)
                                     << ", every " << every << ": " << check << " says " << said;
        }
      }
    }
  }
}

TEST(Missing, TheOrderMustBeKnown) {
  for (const int every : {1, 3}) {
    model::Spec spec = sample_spec();
    Evidence evidence = known_win(spec, false);
    for (PairFact& pair : evidence.pairs) {
      if (pair.index % every == 0) pair.ran_variant_second.reset();
    }
    EXPECT_FALSE(agrees(vote_of("design", evidence)));
    EXPECT_FALSE(agrees(vote_of("order", evidence)));
  }
}

TEST(Missing, WhatThereIsNoneOfIsAgreedOnByNoOne) {
  struct Whole {
    std::string_view check;
    void (*remove)(Evidence&);
  };
  const Whole kWhole[] = {
      {"aa", [](Evidence& e) { e.same.clear(); }},
      {"amdahl", [](Evidence& e) { e.touched_share.reset(); }},
      {"dose", [](Evidence& e) { e.doses.clear(); }},
      {"tod",
       [](Evidence& e) {
         for (auto& pair : e.pairs) pair.a.started_s = 0;
       }},
      {"tod",
       [](Evidence& e) {
         for (auto& pair : e.pairs) pair.a.started_s *= pair.index % 3 == 0 ? 0 : 1;
       }},
      {"strata",
       [](Evidence& e) {
         for (auto& pair : e.pairs) pair.stratum.clear();
       }},
      {"mechanism", [](Evidence& e) { e.component.clear(); }},
  };
  for (const Whole& whole : kWhole) {
    model::Spec spec = sample_spec();
    Evidence evidence = known_win(spec, false);
    whole.remove(evidence);
    const std::string said = vote_of(whole.check, evidence);
    EXPECT_FALSE(agrees(said)) << whole.check << " says " << said;
  }
}

// With every pair void there is nothing to agree on but what is not about pairs.
TEST(Missing, VoidPairsConvinceNoOne) {
  model::Spec spec = sample_spec();
  Evidence evidence = known_win(spec, false);
  for (PairFact& pair : evidence.pairs) pair.voided = true;
  for (const model::Finding& finding : ask_all(evidence)) {
    if (finding.check == "aa" || finding.check == "amdahl" || finding.check == "dose") continue;
    EXPECT_NE(finding.vote, model::Vote::kAgree) << finding.check << ": " << finding.because;
  }
}

// B reports its accuracy where it is good, and nothing where it is not.
TEST(Missing, WhatBHidesIsHeldAgainstIt) {
  model::Spec spec = sample_spec();
  Evidence evidence = known_win(spec, true);
  evidence.pairs[3].b.quality.clear();
  EXPECT_EQ(
      vote_of("quality", evidence),
      "abstain: accuracy is reported by A but not by B in 1 of 12 pairs, by B but not by A in 0");
  for (std::size_t i = 0; i < 7; ++i) evidence.pairs[i].b.quality.clear();
  EXPECT_EQ(
      vote_of("quality", evidence),
      "veto: accuracy is reported by A but not by B in 7 of 12 pairs, by B but not by A in 0");
  // Equal outputs do not make up for it.
  spec.outputs.push_back({"{out}/model.bin", true});
  EXPECT_FALSE(agrees(vote_of("quality", evidence)));
}

}  // namespace
}  // namespace amdahl::refute
