// next.h: what to do next, given all that is known. Decides; does nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"
#include "model/hypothesis.h"

namespace amdahl::loop {

// What is known of one family.
struct FamilyState {
  std::string name;
  double volume_accelerator_h_per_day = 0;
  double pair_cost_s = 60;   // Accelerator-seconds a pair is expected to take.
  int slots = 1;             // CPU slots a pair of it needs.
  bool profiled = false;     // The present baseline has a profile; hypotheses were drawn.
  bool profiling = false;    // A profile run is in flight.
  int profile_failures = 0;  // In a row, for the present baseline.
  int same_pairs = 0;        // A/A pairs that count.
  int same_failures = 0;     // A/A pairs that had to be voided, in a row.
  int same_in_flight = 0;
};

// A live hypothesis without an experiment.
struct Queued {
  std::string hypothesis;
  std::string family;
  double claim = 0;  // ln.
  double prior = 0.15;
};

struct ExperimentState {
  std::string id;
  std::string hypothesis;
  std::string family;
  std::string stage;  // "compare", "refute", "top-up", "hold", "gate".
  double claim = 0;
  double sigma = 0.05;
  double prior = 0.15;
  int cap = 40;
  model::Comparison comparison;  // Over the resolved prefix of coin-randomised pairs.
  double log_e_all = 0;          // ln E over all pairs that feed it.
  int compare_pairs = 0;         // Resolved and counting.
  int replicate_pairs = 0;
  int in_flight = 0;         // Pairs that feed E.
  int variant_failures = 0;  // Pairs voided because B failed.
  int baseline_failures = 0;
  int other_voids = 0;                        // Infrastructure.
  std::map<std::string, int> top_up_missing;  // Check to pairs still to be run (none in flight).
  int top_up_in_flight = 0;
  int slots = 1;
  int pairs_needed = 1;         // An estimate of what the compare stage still takes.
  bool baseline_moved = false;  // The family's baseline is no longer the one it is measured on.
  bool would_survive = false;   // On hold, and what held it back is gone.
  bool has_same = false;        // Enough A/A pairs for the panel.
};

struct Settings {
  int per_family = 1;   // Experiments of one family under way at once.
  int same_wanted = 6;  // A/A pairs per family.
  int replicate_at_least = 5;
  int replicate_at_most = 16;
  int failures_allowed = 3;
  double horizon_days = 30;
};

struct State {
  std::vector<FamilyState> families;
  std::vector<Queued> queued;
  std::vector<ExperimentState> experiments;
  double log_promotion_threshold = 0;  // ln(K/(alpha (D+1))).
  bool campaign_full = false;
  Settings settings;
};

// The intents. Those that need slots are wishes: app grants them in order while slots are free.
struct Profile {
  std::string family;
};
struct Register {
  std::string hypothesis;
};
struct RunPair {
  std::string experiment;
  model::Purpose purpose = model::Purpose::kCompare;
  std::string target;  // The check, for a top-up.
  int slots = 1;
};
struct RunSame {
  std::string family;
  int slots = 1;
};
struct Stage {  // Go on to this stage.
  std::string experiment;
  std::string stage;
};
struct AskPanel {
  std::string experiment;
};
struct Close {
  std::string experiment;
  model::VerdictKind verdict = model::VerdictKind::kAborted;
  std::string reason;
};
using Intent = std::variant<Close, Stage, AskPanel, Profile, Register, RunPair, RunSame>;

// Everything that can be done now, most useful first; empty when all is settled or in flight.
// Same state, same answer: the simulator replays it from a seed.
std::vector<Intent> next(const State& state);

// Chance it is real × hours it would give back ÷ hours still needed to prove it.
double worth(const State& state, const ExperimentState& experiment);
double worth(const State& state, const Queued& queued);

// Nothing is live and nothing more can be proposed: all families are at rest.
bool settled(const State& state);

}  // namespace amdahl::loop
