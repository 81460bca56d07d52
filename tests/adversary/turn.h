// turn.h: what one process of a story does: prepares, runs cycles, or acts as the person.
#pragma once

#include "app/context.h"
#include "base/result.h"
#include "scenario.h"
#include "sleeper.h"
#include "world.h"

namespace amdahl::adversary {

// How a process that ran cycles ended; killed ones say nothing.
enum class TurnEnd : int { kSettled = 0, kGoesOn = 1, kError = 2, kHangs = 3 };

// A cold start: all that a process of the program has.
class Stage {
 public:
  static Result<std::unique_ptr<Stage>> open(const Scenario& scenario, World& world);

  app::Context context;
  VirtualClock clock;  // Not that of the context if the scenario is a real one.

 private:
  explicit Stage(World& world) : clock{world} {}
};

// Where the story's lines go.
std::string story_path(const Scenario& scenario);
void tell(const Scenario& scenario, const World& world, const std::string& line);

// Adopts the spec, opens the campaign and proposes the changes.
Result<> prepare(const Scenario& scenario, World& world);
// One process: cycles until settled, or as many as the turn says, with its fault.
TurnEnd live(const Scenario& scenario, World& world, const Turn& turn);
// What a person does between two processes. Whether the spec was made wrong.
Result<bool> act(const Scenario& scenario, World& world, Deed deed);
// Decides on all that waits at the gate; how many there were.
Result<int> decide_all(const Scenario& scenario, World& world, int round);

// Proposes again what was aborted, as the playbook would; how many there were.
Result<int> propose_aborted(const Scenario& scenario, World& world);

}  // namespace amdahl::adversary
