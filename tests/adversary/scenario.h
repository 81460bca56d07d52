// scenario.h: all that a seed makes: a job, changes to it, a spec, a configuration and what goes
// wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/config.h"
#include "model/change.h"
#include "model/spec.h"
#include "sim/random.h"

namespace amdahl::adversary {

// What the job is really like, whatever its spec says.
struct Job {
  double run_s = 60;        // Of the baseline on a quiet host.
  double cpu_per_s = 0.9;   // CPU-seconds a second.
  double items = 100;       // Work of a run.
  bool exact = true;        // Same input, same bytes; else only its accuracy can be compared.
  bool timed = false;       // Reports a metric of its own, which is what the spec goes by.
  bool throughput = false;  // That metric is items a second, and higher is better.
  bool strata = false;      // Runs on short and long inputs.
  enum class Tells { kReport, kOutput, kFixed } tells = Tells::kReport;  // How much work it did.
  double noise = 0.02;     // Deviation of one run's time, in ln.
  double drift = 0.02;     // How far the host wanders over hours, in ln.
  double outliers = 0.02;  // Share of runs that are far slower.
  double failures = 0;     // Share of runs that fail, whatever the arm.
  double second = 0;       // The second run of a pair is so much slower, in ln.
  int hosts = 1;
};

// What the first change sets the flag --batch to where it turns a flag.
inline constexpr std::string_view kTurned = "16";

struct Variant {
  std::string title;
  model::Change change;
  double gain = 0.2;        // As proposed.
  double effect = 0;        // ln(cost before / cost after) by honest means.
  double fake = 0;          // The same by cheating.
  double share = 0;         // Of runs, for cheats that choose among them.
  std::vector<int> cheats;  // Rows of cheats().

  bool honest() const { return cheats.empty(); }
};

// What goes wrong while one process runs cycles.
struct Fault {
  enum class Kind {
    kNone,
    kKill,         // SIGKILL at a fault point.
    kKillAsleep,   // SIGKILL while it waits.
    kStop,         // ^C.
    kFullDisk,     // No file may grow beyond a bound.
    kClockStep,    // The wall clock steps.
    kSecondCycle,  // Another cycle is started beside it.
  } kind = Kind::kNone;
  std::string point;   // For kKill; empty: any.
  int at = 0;          // The so manieth passing of the point, or sleep.
  double seconds = 0;  // For kClockStep.
};

// What a person does after a process has ended.
enum class Deed { kNothing, kReadopt, kProposeAgain, kRollBack, kSpecFlip, kNewLedger };

struct Turn {
  bool watch = true;
  int cycles = 1;      // Without watch,
  double gap_s = 300;  // and the time between them.
  Fault fault;
  Deed then = Deed::kNothing;
};

// Of the workers and the disk below them; shares of runs.
struct Trouble {
  double dies = 0;          // The worker is killed in the midst of the run.
  double never_starts = 0;  // The worker does not start when first handed over.
  double sleeps = 0;        // The worker is stopped and never goes on.
  double slow_start_s = 0;  // It takes so long until a worker starts.
  double slow_disk_s = 0;   // And so long to write or to read what a run needs or left.
};

struct Scenario {
  std::uint64_t seed = 0;
  Job job;
  model::Spec spec;  // As adopted, mistake included.
  int mistake = 0;   // Row of mistakes(); 0: none.
  std::vector<Variant> variants;
  app::Config config;
  std::string campaign_seed;
  Trouble trouble;
  std::vector<Turn> turns;
  bool person = false;      // At the gate, instead of a policy.
  bool bad_family = false;  // Another family wants more than there is.
  bool real = false;        // Real workers run real processes, in real time.
  bool flag = false;  // The first change turns a flag, and is proposed by its other name as well.
};

// A plausible error in a spec. Row 0 is none.
struct Mistake {
  std::string_view name;
  bool (*fits)(const Job&);  // Null: any.
  void (*make)(model::Spec&);
  bool holds;  // No change can be promoted with it, for want of evidence.
};
const std::vector<Mistake>& mistakes();

// How a seed is played.
struct Mode {
  bool real = false;  // Jobs of some 30 ms that this program runs (real_job.h), and no noise but
                      // the machine's.
  bool tune = false;  // With the settings of `amdahl tune`, and its policy at the gate.
};

// Same seed and mode, same scenario. `folder` is where the job lives.
Scenario generate(std::uint64_t seed, const std::string& folder, const Mode& mode);

// What was generated, for a person: some lines.
std::string describe(const Scenario& scenario);

}  // namespace amdahl::adversary
