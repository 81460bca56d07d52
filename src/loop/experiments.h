// experiments.h: all live experiments in memory, and the decisions on them. The only place that
// closes an experiment: the real and the simulated loop differ only in their Effects.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compare/judge.h"
#include "loop/effects.h"
#include "loop/next.h"
#include "loop/state.h"
#include "model/hypothesis.h"
#include "model/pair.h"
#include "model/spec.h"
#include "refute/check.h"

namespace amdahl::loop {

struct Promoted {
  std::string hypothesis;
  model::Change change;
};

struct FamilyRecord {
  model::Spec spec;
  model::Change baseline;             // All of the stack, combined.
  std::vector<Promoted> stack;        // Oldest first.
  FamilyState state;                  // Experiments updates its counts of A/A pairs.
  std::vector<model::PairFact> same;  // A/A pairs recent enough to count.
  // A/A pairs of earlier baselines of its stack: they show the noise, not the baseline's cost.
  std::vector<model::PairFact> same_before;
  std::vector<refute::Dose> doses;  // Effects of knob values tested before.
  int past_runs = 0;                // Earlier runs of the baseline, and how many of them failed.
  int past_failed = 0;
  int past_lost = 0;    // Of these, lost with their worker.
  std::string setup{};  // Names the job as it is now, with its baseline.
  // Inputs of its arms besides the spec: digests of kEnvironment and kSource, if known.
  std::map<std::string, std::string> ran_with{};
};
inline constexpr std::string_view kEnvironment = "environment";
inline constexpr std::string_view kSource = "source code";

// The open campaign; fixed before the first pair. An empty id: none is open.
struct CampaignRecord {
  std::string id;
  std::string seed;
  stats::Campaign campaign;
  int registered = 0;
};

// Prices and rates that the panel needs.
struct Circumstances {
  double price_accelerator_hour = 1;
  double price_cpu_hour = 0.02;
};

// An earlier test of the same change, and the pairs that it had.
struct EarlierTest {
  model::Experiment experiment;
  std::vector<model::PairFact> pairs;
};

// A hypothesis that has its verdict.
struct Closed {
  model::Hypothesis hypothesis;
  model::VerdictKind verdict = model::VerdictKind::kAborted;
};

class Experiments {
 public:
  Experiments(const Settings& settings, const CampaignRecord& campaign,
              const Circumstances& circumstances);

  // Loads the state at the start. Add an experiment's family and hypothesis before it, and its
  // votes and their comparison with it. Fails if the baseline makes no plan.
  Result<> add(FamilyRecord family);
  // `earlier`: tests of the same change that ended without a lasting verdict. What B lost there
  // counts against it here, unless the family's job is another one by now.
  void add(const model::Hypothesis& hypothesis, std::span<const EarlierTest> earlier = {});
  // `resumed`: pairs it had when a person asked for more although it was parked.
  Result<> add(const model::Experiment& experiment, model::Stage stage,
               std::vector<model::Finding> votes,
               std::optional<model::Comparison> compared = std::nullopt, int resumed = 0);

  // Updates: a pair was launched, with those that share its baseline; a pair ended, with its fact,
  // or without one if it was lost.
  void began(const model::Pair& pair);
  void ended(const model::Pair& pair);
  // Models refuted it by these checks: their targeted pairs are bought before it comes to the gate.
  // `open`: more are still asked. Words never count as votes.
  void attacked(const std::string& experiment, std::vector<std::string> checks, int open);
  // A pair of a race that ended earlier; `counts`: it was measured on the present baseline.
  void raced(const model::Pair& pair, bool counts);
  // All pairs that a live experiment has had, judged once.
  void replay(const std::string& experiment, std::span<const model::Pair> pairs);

  // The gate's decision closes the experiment; an approval moves the family's baseline. kConflict
  // if it is not waiting at the gate, if the spec or the baseline has changed since registration,
  // or if its evidence is below the campaign's threshold.
  Result<> decide(const std::string& experiment, const model::GateDecision& decision,
                  Effects& effects);
  // Removes a promoted change from the stack. Its verdict stays, its key stays used, and the
  // campaign still counts it. kConflict if it is not in the stack.
  Result<> roll_back(const std::string& family, const std::string& hypothesis,
                     const std::string& actor, const std::string& reason, Effects& effects);
  // A person asks for a retest. kConflict if the verdict does not block a retest, or if the change
  // is in the stack.
  Result<> reopen(const Closed& closed, const std::string& actor, const std::string& reason,
                  Effects& effects);

  std::vector<Intent> plan() const { return next(state_); }
  // Performs intents that need no slot; false for those that do.
  Result<bool> act(const Intent& intent, Effects& effects);
  // The pair that an intent asks for; nothing if it asks for none. A block includes other
  // experiments of the family that need a pair too.
  std::optional<model::Pair> order_for(const Intent& wish) const;

  const State& state() const { return state_; }
  const model::Hypothesis& hypothesis(const std::string& id) const { return ideas_.at(id); }
  const model::Experiment& experiment(const std::string& id) const;
  // Of what a pair tests; empty once it has a verdict, even if pairs of it are still in flight.
  std::string title_of(const model::Pair& pair) const;
  std::string title_of(const std::string& experiment) const;
  std::string family_of(const Intent& intent) const;  // Empty if it concerns no family.
  model::Comparison comparison(const std::string& experiment) const;  // With its interval.
  const FamilyRecord& family(const std::string& name) const { return families_.at(name).record; }
  refute::Evidence evidence(const std::string& experiment, bool topped_up) const;

 private:
  struct Family {
    FamilyRecord record;
    std::string digest;          // Of the baseline's plan.
    std::size_t at = 0;          // Index in state_.families.
    int last_same = 0;           // Index of the last A/A pair.
    double noise = 0;            // From its A/A pairs.
    std::set<std::string> live;  // Its experiments.
  };
  struct Waiting {
    std::vector<double> log_ratios;
    bool fresh = false;
  };
  struct Track {
    explicit Track(const model::Experiment& e) : experiment{e}, judge{compare::design_of(e)} {}

    model::Experiment experiment;
    std::size_t at = 0;  // Index in state_.experiments.
    int resumed = 0;     // Log-ratios it had when a person asked for more; 0: nobody did.
    compare::Judge judge;
    std::vector<model::PairFact> pairs;
    std::set<int> open;  // Indices of pairs in flight that feed E.
    // Resolved, but an earlier one is still open.
    std::map<int, Waiting> waiting;
    bool judged = false;        // The state has the judge's current answer.
    std::vector<double> all;    // What the judge has seen,
    std::vector<double> fresh;  // and the part from replication.
    std::vector<model::Finding> votes;
    std::optional<model::Comparison> compared;  // That the votes are about.
    std::vector<std::string> attacked_by;       // Checks that models named.
    std::map<std::string, int> dealt;           // Pairs of each class of inputs.
    std::map<std::string, int> wanted;          // Pairs for each check, as it last voted,
    std::map<std::string, int> bought;          // those launched,
    std::map<std::string, int> spoiled;         // and the void ones among them.
    bool beyond_pairs = false;  // A mandatory check is silent that no pair can answer.
    int last_index = 0;
  };

  refute::Evidence gather(const Track& track, model::Comparison comparison, bool topped_up) const;
  Result<bool> perform(const Close& what, Effects& effects);
  Result<bool> perform(const Advance& what, Effects& effects);
  Result<bool> perform(const AskPanel& ask, Effects& effects);
  Result<bool> perform(const OpenCampaign& what, Effects& effects);
  Result<bool> perform(const Register& what, Effects& effects);
  Result<bool> perform(const Drop& what, Effects& effects);
  // Wishes need slots.
  Result<bool> perform(const Profile&, Effects&) { return false; }
  Result<bool> perform(const RunPair&, Effects&) { return false; }
  Result<bool> perform(const RunSame&, Effects&) { return false; }
  Result<bool> perform(const RunRace&, Effects&) { return false; }
  Result<model::Experiment> design(const model::Hypothesis& hypothesis, Nanos now) const;
  void launch(const model::Pair& pair);
  void launch(Track& track, const model::Pair& pair);
  void count(Track& track, const model::Pair& pair);
  void refresh(Track& track);
  void judge_resolved(Track& track);
  bool is_parked(const ExperimentState& x) const;
  void set_noise(Family& family);
  // Checks that got targeted pairs, but not yet enough for their silence to count as an answer.
  std::vector<std::string> unsettled(const Track& track, std::span<const model::Finding> votes,
                                     const refute::Evidence& known) const;
  // Pairs that checks ask for, given the panel's votes; and those still to be run.
  std::map<std::string, int> wanted(const Track& track, std::span<const model::Finding> votes,
                                    const refute::Evidence& known) const;
  // The same with another round for each check that its pairs have not settled, while it has any.
  std::map<std::string, int> once_more(const Track& track, std::span<const model::Finding> votes,
                                       const refute::Evidence& known) const;
  static std::optional<model::Finding> early_veto(std::span<const model::Finding> votes);
  Result<bool> refute_early(const Track& track, const model::Finding& veto, Effects& effects);
  std::map<std::string, int> missing(const Track& track,
                                     const std::map<std::string, int>& wanted) const;
  refute::Panel outcome_of(const Track& track, const std::vector<model::Finding>& votes,
                           const refute::Evidence& known, bool multiplicity_ok) const;
  void set_stage(Track& track, model::Stage stage);
  void set_baseline(Family& family, std::vector<Promoted> stack, model::Change baseline,
                    std::string plan);
  void remove(const std::string& experiment);
  void unqueue(const std::string& hypothesis);
  model::Pair order_pair(const RunPair& wish) const;
  model::Pair order_same(const RunSame& wish) const;
  model::Pair order_race(const RunRace& wish) const;
  void draw_order(std::string_view seed, std::string_view label, model::Pair& order) const;
  Queued* racing(const model::Pair& pair);
  void share_baseline(const Track& leader, model::Pair& order) const;
  bool wants_same(const Track& leader, const model::Pair& order) const;
  std::optional<model::Purpose> wants_pair(const ExperimentState& x) const;
  std::span<const model::PairFact> before(const std::string& hypothesis) const;
  bool takes_others_along(const Track& track) const;
  ExperimentState& state_of(const Track& track) { return state_.experiments[track.at]; }

  State state_;
  std::string campaign_;
  std::string seed_;
  Circumstances circumstances_;
  std::map<std::string, Family> families_;
  std::map<std::string, Track> tracks_;  // By experiment.
  std::map<std::string, model::Hypothesis> ideas_;
  std::map<std::string, std::vector<model::PairFact>> before_;  // By hypothesis; few have any.
  std::map<std::string, int> last_raced_;  // Index of a hypothesis's last pair in a race.
};

}  // namespace amdahl::loop
