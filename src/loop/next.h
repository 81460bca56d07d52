// next.h: what to do next, given all that is known. Decides; does nothing.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "loop/state.h"

namespace amdahl::loop {

// Intents. Those that need slots are granted in order while slots are free.
struct Profile {
  std::string family;
};
// Queued hypotheses need a campaign: none is open, or it is full and all its claims are closed.
struct OpenCampaign {};
struct Register {
  std::string hypothesis;
};
struct Drop {  // A queued hypothesis that costs more to prove than it would save.
  std::string hypothesis;
  double worth = 0;
  std::string reason{};  // Empty: that one.
};
struct RunPair {
  std::string experiment;
  model::Purpose purpose = model::Purpose::kCompare;
  std::string target{};  // The check, for a top-up.
  int slots = 1;
  int pairs = 1;  // So many of them.
};
struct RunSame {
  std::string family;
  int slots = 1;
};
struct RunRace {  // These values of a setting, on one baseline run.
  std::string family;
  std::vector<std::string> hypotheses;
};
struct Advance {  // Go on to this stage.
  std::string experiment;
  model::Stage stage = model::Stage::kCompare;
};
struct AskPanel {
  std::string experiment;
  double log_level = 0;  // ln E that the campaign requires.
};
struct Close {
  std::string experiment;
  model::VerdictKind verdict = model::VerdictKind::kAborted;
  std::string reason;  // Empty: use the comparison's sentence.
};
using Intent = std::variant<Close, Advance, AskPanel, Profile, OpenCampaign, Register, Drop,
                            RunPair, RunSame, RunRace>;

// Everything that can be done now, most useful first; empty when all is settled or in flight.
// Same state, same answer: the simulator replays it from a seed.
std::vector<Intent> next(const State& state);

// The same with one intent per pair, for callers that grant pairs one by one.
std::vector<Intent> one_by_one(const std::vector<Intent>& intents);

// Chance that it is real × hours it would save ÷ hours still needed to prove it.
double worth(const State& state, const ExperimentState& experiment);
double worth(const State& state, const Queued& queued);

// Whether it would save more than the proof costs, as far as the family's volume is known.
bool pays(const State& state, const ExperimentState& experiment);

// ln E that the campaign requires for the next promotion.
double promotion_level(const State& state);

// Nothing is live and nothing more can be proposed: all families are at rest.
bool settled(const State& state);

}  // namespace amdahl::loop
