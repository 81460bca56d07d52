// run_arm.h: one arm of a pair as it would have run, with the files and the receipt that it leaves.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cheats.h"
#include "launch/launcher.h"
#include "launch/local/arms.h"
#include "model/plan.h"
#include "model/receipt.h"
#include "scenario.h"
#include "sim/random.h"
#include "world.h"

namespace amdahl::adversary {

// What a run finds around it.
struct Around {
  bool after_other = false;  // The baseline ran before, in the same run.
  bool warm = false;         // Any other arm did.
  bool second = false;       // It is not the first of its pair, whichever arm it is.
  double contended = 0;      // Neighbours slow it by so much, in ln.
  Nanos at{};                // Of the world's time.
  double steps = 1;          // That its process makes: a process fails once, not once a step.
};

// What a run of the plan does.
Act act_of(const Scenario& scenario, World& world, const model::Plan& plan, const Around& around,
           sim::Stream& luck);
// What it writes to its report and to its output.
std::string report_text(const Scenario& scenario, const Act& act);
std::string stdout_text(const Scenario& scenario, const Act& act, sim::Stream& luck);

struct ArmRun {
  const launch::PairRequest& request;
  const launch::local::Arm& arm;
  std::string out_dir;
  Nanos started{};  // Unix time.
  std::string host;
  Around around;
  std::optional<Nanos> too_dear_after{};  // It is stopped then.
};

struct ArmEnd {
  model::Receipt receipt;  // Not yet sealed.
  bool kills_worker = false;
  bool spoils_other = false;
};

// Which input lies there now, by how many pairs have begun.
int input_now(const World& world);

Result<ArmEnd> run_arm(const Scenario& scenario, World& world, const ArmRun& run,
                       sim::Stream& luck);

}  // namespace amdahl::adversary
