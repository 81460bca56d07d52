// state.h: what the loop knows when it decides, as plain data.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "loop/race.h"
#include "model/hypothesis.h"
#include "stats/campaign.h"

namespace amdahl::loop {

// What is known of one family.
struct FamilyState {
  std::string name;
  double volume_accelerator_h_per_day = 0;
  bool volume_known = false;  // Seen often enough for the volume to say what a fix is worth.
  int place = 1 << 20;        // In the order that the last scan gave; what it has not, comes last.
  double pair_cost_s = 60;    // Accelerator-seconds a pair is expected to take.
  int slots = 1;              // CPU slots a pair of it needs.
  bool profiled = false;      // The present baseline has a profile; hypotheses were drawn.
  bool profiling = false;     // A profile run is in flight.
  int profile_failures = 0;   // In a row, for the present baseline.
  int same_pairs = 0;         // A/A pairs that count.
  int same_failures = 0;      // A/A pairs that had to be voided, in a row.
  int same_in_flight = 0;
  int same_before = 0;  // A/A pairs of earlier baselines of its stack: they tell the noise too.
  double noise = 0.05;  // Deviation of a pair, that A/A pairs tell.
};

// A live hypothesis without an experiment.
struct Queued {
  std::string hypothesis;
  std::string family;
  double claim = 0;  // ln.
  double prior = 0.15;
  Lane lane{};  // If it is one of several values of a setting.
};

struct ExperimentState {
  std::string id;
  std::string hypothesis;
  std::string family;
  model::Stage stage = model::Stage::kCompare;
  double claim = 0;
  double sigma = 0.05;
  double prior = 0.15;
  int cap = 40;
  // Over the resolved prefix of coin-randomised pairs.
  model::Answer answer = model::Answer::kCannotTell;
  double effect = 0;
  double log_e = 0;        // For better.
  int compare_pairs = 0;   // Resolved and counting,
  int compare_ratios = 0;  // and the log-ratios they gave, which the cap counts: one each, or one
                           // for each pair of steps.
  int replicate_pairs = 0;
  int in_flight = 0;         // Pairs that feed E.
  int variant_failures = 0;  // Pairs voided because B failed.
  int baseline_failures = 0;
  int other_voids = 0;                        // Infrastructure.
  std::map<std::string, int> top_up_missing;  // Check to pairs still to be run (none in flight).
  int top_up_in_flight = 0;
  int slots = 1;
  int pairs_certain = 1;   // What no verdict can do without.
  double promise = 1;      // Wins to be expected of each pair that is still spent on it.
  double log_e_none = 0;   // That it saves less than the smallest gain that matters.
  double log_e_worse = 0;  // That it costs more.
  bool asked_for = false;  // Somebody asked for more pairs although it was parked.
  bool parked = false;     // Too little promise for more hours now: pairs only where none else
                           // wants the slot.
  model::Vote replicated = model::Vote::kAbstain;  // What fresh pairs say of the claim so far.
  std::string spec_changed;     // What is no longer as it was registered; empty if all is.
  bool baseline_moved = false;  // The family's baseline is no longer the one it is measured on.
  std::string never_runs;       // Why its variant cannot run at all; empty if it can.
  bool passed = false;          // On hold, and only the campaign's level holds it back;
  bool wants_top_up = false;    // or that, and then pairs that the panel would have.
  int attacks_open = 0;         // Models that still look for a flaw in it.
  bool careful = false;         // A model's patch: pairs one by one until one is good.
  bool vetoed = false;          // Of such a patch: what was seen refutes it without more pairs.
};

struct Settings {
  int per_family = 1;      // Experiments of one family under way at once.
  int block_variants = 4;  // Of them, how many may share a baseline run.
  // A family's other ideas wait while one of its wins is replicated: the promotion would end their
  // tests. Right for one job and one person, who waits for it.
  bool wins_first = false;
  int same_wanted = 6;          // A/A pairs per family.
  int same_first = 6;           // Of them, those that come before the first experiment,
  bool same_in_blocks = false;  // and whether the others join its pairs and share their baseline.
  int replicate_at_least = 5;
  int replicate_at_most = 36;
  int failures_allowed = 3;
  double horizon_days = 30;
  bool other_contention = true;   // Test survivors on busy hosts too, if found on quiet ones.
  double worth_at_least = 1;      // Hours given back per hour spent; below that it is dropped.
  double parked_below = 0.00036;  // Promise; what has less, or has used its cap, is parked.
  double idle_from = 0.000175;     // Promise from which a slot that is idle is used on it.
  int idle_caps = 3;              // Caps that it may use up in all while it is parked.
  double beta = 0.05;  // E of 1 / beta, that less than what matters is saved, is called "same".
  int cap = 40;
};

struct State {
  std::vector<FamilyState> families;
  std::vector<Queued> queued;
  std::vector<ExperimentState> experiments;
  bool campaign_open = false;
  stats::Campaign campaign;  // The open one, or what the next would be.
  int registered = 0;        // Experiments of the campaign so far.
  Settings settings;
};

// E that closes a key for ever.
inline constexpr double kForGood = 20;

// Whether it takes part in its family's share of the slots: others wait for a level or a person.
bool is_active(const ExperimentState& experiment);

// Pairs that would probably settle what is parked, one way or the other.
int pairs_to_settle(const ExperimentState& experiment);

// Whether the family has the A/A pairs that the panel asks for, or cannot get them.
bool has_same(const Settings& settings, const FamilyState& family);

// Whether it may get more of them: some are missing, and not all fail.
bool may_run_same(const Settings& settings, const FamilyState& family);

}  // namespace amdahl::loop
