// supervisor.h: runs one command, observes it, enforces its limits, and writes its receipt.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/plan.h"
#include "model/receipt.h"
#include "model/spec.h"
#include "os/bubblewrap.h"
#include "os/clock.h"

namespace amdahl::observe {

struct RunOrder {
  std::string id;  // Receipt id.
  std::string family;
  std::string arm = "run";
  model::Plan plan;
  std::vector<int> cpus;  // CPUs to pin to; empty: do not pin.
  std::string out_dir;    // For "{out}", the report, stdout and stderr. Created if missing.
  std::string state_dir;  // For "{state}": kept between runs of one plan.
  Nanos time_limit{};     // 0: none.
  std::optional<double> memory_limit_mb;
  std::string work_pattern;  // See Spec.
  std::optional<double> fixed_work;
  std::vector<model::Quality> quality;  // Those with a pattern are searched on stdout.
  std::vector<model::Output> outputs;   // Expected outputs; may contain "{out}".
  std::vector<std::string> inputs;      // Globs to fingerprint, relative to the plan's workdir.
  bool pass_input = false;              // Pass our stdin on, unless it is a terminal (amdahl run).
  bool pass_output = false;             // Copy stdout and stderr to ours (amdahl run).
  bool with_hook = false;               // Put the PyTorch hook on PYTHONPATH (profile).
  bool with_waits = false;     // Record its threads' waits in out_dir/waits.jsonl (profile).
  bool with_syscalls = false;  // Count system calls too; slows down the whole host.
  Nanos sample_every = std::chrono::milliseconds(100);
  // Runs it in bubblewrap, which must be there: with these folders, its own, and what its command
  // names; without variables that hold keys, but for those that the plan sets.
  std::optional<os::Jail> jail{};
  // In a jail: a copy of the plan's workdir that is there instead and may be written to; outputs
  // that are relative to the workdir are looked for in it. Empty: none.
  std::string own_workdir{};
  // Names the results that earlier runs left outside of their own folders: they are set aside
  // until this one has ended, and its own are added. Empty: all stay.
  std::string results_list{};
};

// What of the spec the supervisor needs: the limits; how work and quality are read; these and what
// is digested before and after the run.
void take_limits(const model::Spec& spec, RunOrder& order);
void take_work(const model::Spec& spec, RunOrder& order);
void take_spec(const model::Spec& spec, RunOrder& order);

// For progress lines; called from the supervisor's thread a few times per second.
struct Live {
  Nanos elapsed{};
};

// Runs the order to its end and returns the sealed receipt. A failed job is a receipt, not an
// error; errors are ours: disk full, no permission.
// The command runs in its own process group under a subreaper, so that nothing it starts escapes.
// At a limit or on `cancelled` the whole tree is killed; if we are killed, a guard process does
// it. SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on. Not reentrant: one supervised
// run at a time per process.
Result<model::Receipt> supervise(const RunOrder& order, os::Clock& clock,
                                 const std::function<void(const Live&)>& watch = {});

// "gpu: 4 × NVIDIA H100" or "cpu: AMD EPYC × 2": the hardware part of a never-retry key.
std::string hardware();

// Number of accelerators that can be sampled; 0 without NVML. `why_not` gets the reason.
int gpu_count(std::string* why_not = nullptr);

}  // namespace amdahl::observe
