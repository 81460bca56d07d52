// desk.h: everything live in memory, and what deciding on it does. The same desk turns the real
// loop, where its hands are ledger and launcher, and the simulated one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "compare/judge.h"
#include "loop/next.h"
#include "loop/order.h"
#include "loop/state.h"
#include "model/hypothesis.h"
#include "model/spec.h"
#include "refute/check.h"

namespace amdahl::loop {

// What a decision leaves behind, to be remembered before the desk believes it.
struct CampaignOpened {
  std::string id;
  std::string seed;
  stats::Campaign campaign;
};
struct Registered {
  model::Experiment experiment;
};
struct Staged {
  std::string experiment;
  std::string stage;
};
struct Voted {
  std::string experiment;
  model::Finding finding;
};
struct Compared {
  std::string experiment;
  model::Comparison comparison;
};
struct GateOpened {  // Who remembers it makes the packet.
  std::string experiment;
  model::Comparison comparison;
  std::vector<model::Finding> votes;
  std::string holds_for;
};
struct Judged {
  model::Verdict verdict;
};
using Happening =
    std::variant<CampaignOpened, Registered, Staged, Voted, Compared, GateOpened, Judged>;

// What the loop reaches the world with.
class Hands {
 public:
  virtual ~Hands() = default;
  virtual Result<> remember(std::span<const Happening> together) = 0;  // All or nothing.
  virtual void say(const std::string& sentence) = 0;                   // For people who watch.
  virtual Nanos now() = 0;                                             // Unix time.
  virtual std::string fresh_seed() = 0;                                // 32 hex digits, random.
};

struct FamilyRecord {
  model::Spec spec;
  model::Change baseline;
  FamilyState state;                  // The desk keeps up the counts of A/A pairs in it.
  std::vector<model::PairFact> same;  // A/A pairs that are young enough to count.
  std::vector<refute::Dose> doses;    // Effects of knobs that were turned before.
  int past_runs = 0;                  // Of the baseline before, and how many of them failed.
  int past_failed = 0;
};

// Of the open campaign; fixed before the first pair. Without an id none is open.
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

class Desk {
 public:
  Desk(const Settings& settings, const CampaignRecord& campaign,
       const Circumstances& circumstances);

  // What is found at the start. An experiment's family and hypothesis come before it, its votes
  // with it. Fails if the baseline makes no plan.
  Result<> add(FamilyRecord family);
  void add(const model::Hypothesis& hypothesis);
  Result<> add(const model::Experiment& experiment, const std::string& stage,
               std::vector<model::Finding> votes);

  // News: a pair was launched; it ended. `experiment` is empty for A/A pairs.
  void began(const PairOrder& order);
  void ended(const std::string& family, const std::string& experiment, const std::string& purpose,
             int index, const model::PairFact* fact);
  // The gate decided. An approval moves the family's baseline.
  Result<> decided(const std::string& experiment, bool approved);

  std::vector<Intent> plan() const { return next(state_); }
  // Does what needs no slot; false for a wish.
  Result<bool> act(const Intent& intent, Hands& hands);
  // The pair that a wish asks for; nothing if it is not a wish for a pair. Blocks take in other
  // experiments of the family that want a pair as well.
  std::optional<PairOrder> order_for(const Intent& wish) const;

  const State& state() const { return state_; }
  const model::Hypothesis& hypothesis(const std::string& id) const { return ideas_.at(id); }
  const model::Experiment& experiment(const std::string& id) const;
  // Of its hypothesis; empty once it has a verdict, though pairs of it may still be in flight.
  std::string title_of(const std::string& experiment) const;
  model::Comparison comparison(const std::string& experiment) const;  // With its interval.
  const FamilyRecord& family(const std::string& name) const { return families_.at(name).record; }
  refute::Evidence evidence(const std::string& experiment, bool topped_up) const;

 private:
  struct Family {
    FamilyRecord record;
    std::string digest;          // Of the baseline's plan.
    std::size_t at = 0;          // In state_.families.
    int last_same = 0;           // Index of the last A/A pair.
    std::set<std::string> live;  // Its experiments.
  };
  struct Waiting {
    std::vector<double> log_ratios;
    bool fresh = false;
  };
  struct Track {
    explicit Track(const model::Experiment& e) : experiment{e}, judge{compare::design_of(e)} {}

    model::Experiment experiment;
    std::size_t at = 0;  // In state_.experiments.
    compare::Judge judge;
    std::vector<model::PairFact> pairs;
    std::set<int> open;  // Indices of pairs in flight that feed E.
    // Resolved, but an earlier one is still open.
    std::map<int, Waiting> waiting;
    bool judged = false;        // The state holds what the judge says.
    std::vector<double> fresh;  // Of replication, as far as the prefix goes.
    std::vector<model::Finding> votes;
    std::map<std::string, int> dealt;    // Pairs of each class of inputs.
    std::map<std::string, int> wanted;   // Pairs for each check, as it last voted,
    std::map<std::string, int> bought;   // those launched,
    std::map<std::string, int> spoiled;  // and those of them that were void.
    int last_index = 0;
  };

  refute::Evidence gather(const Track& track, model::Comparison comparison, bool topped_up) const;
  Result<> close(const Close& close, Hands& hands);
  Result<> stage(const Stage& stage, Hands& hands);
  Result<> open_campaign(Hands& hands);
  Result<> drop(const Drop& drop, Hands& hands);
  Result<> register_one(const std::string& hypothesis, Hands& hands);
  Result<> ask_panel(const AskPanel& ask, Hands& hands);
  Result<model::Experiment> design(const model::Hypothesis& hypothesis, Nanos now) const;
  void count(Track& track, const std::string& purpose, int index, const model::PairFact* fact);
  void refresh(Track& track);
  void judge_resolved(Track& track);
  // Pairs that checks would have bought, given how the panel voted; and those still to be run.
  std::map<std::string, int> wanted(std::span<const model::Finding> votes,
                                    const refute::Evidence& known) const;
  std::map<std::string, int> missing(const Track& track,
                                     const std::map<std::string, int>& wanted) const;
  refute::Panel outcome_of(const Track& track, const std::vector<model::Finding>& votes,
                           const refute::Evidence& known, bool multiplicity_ok) const;
  void set_stage(Track& track, const std::string& stage);
  void remove(const std::string& experiment);
  void unqueue(const std::string& hypothesis);
  void add_mates(const Track& leader, PairOrder& order) const;
  ExperimentState& state_of(const Track& track) { return state_.experiments[track.at]; }

  State state_;
  std::string campaign_;
  std::string seed_;
  Circumstances circumstances_;
  std::map<std::string, Family> families_;
  std::map<std::string, Track> tracks_;  // By experiment.
  std::map<std::string, model::Hypothesis> ideas_;
};

}  // namespace amdahl::loop
