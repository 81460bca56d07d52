// supervisor.h: runs one command, watches it, ends it when it must, and writes down what happened.
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
#include "os/clock.h"

namespace amdahl::observe {

struct RunOrder {
  std::string id;  // The receipt's.
  std::string family;
  std::string arm = "run";
  model::Plan plan;
  std::vector<int> cpus;  // Pin to these; empty: do not pin.
  std::string out_dir;    // For "{out}", the report, stdout and stderr. Made if absent.
  std::string state_dir;  // For "{state}": survives between runs of one plan.
  Nanos time_limit{};     // 0: none.
  std::optional<double> memory_limit_mb;
  std::string work_pattern;  // As in Spec.
  std::optional<double> fixed_work;
  std::vector<model::Quality> quality;  // Those with a pattern are looked for on stdout.
  std::vector<model::Output> outputs;   // To look for; may hold "{out}".
  std::vector<std::string> inputs;      // To fingerprint: globs, relative to the plan's workdir.
  bool pass_input = false;              // Hand it our stdin, if that is no terminal (amdahl run).
  bool pass_output = false;             // Copy stdout and stderr to ours (amdahl run).
  bool with_hook = false;               // Put the PyTorch hook on PYTHONPATH (profile).
  bool with_waits = false;     // Record its threads' waits in out_dir/waits.jsonl (profile).
  bool with_syscalls = false;  // Count system calls in it, which costs the whole host.
  Nanos sample_every = std::chrono::milliseconds(100);
};

// A live view for progress lines; called from the supervisor's thread a few times a second.
struct Live {
  Nanos elapsed{};
};

// Runs the order to its end and returns the sealed receipt; a job that fails is a receipt, not an
// error. Errors are ours: no room on the disk, no right to write. The command runs in its own
// process group under a subreaper, so that nothing it starts escapes; at a limit or on `cancelled`
// the whole tree is killed; if we are killed outright, a guard beside us does that. SIGINT,
// SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 sent to us are passed on.
// Not reentrant: one supervised run at a time in a process.
Result<model::Receipt> supervise(const RunOrder& order, os::Clock& clock,
                                 const std::function<void(const Live&)>& watch = {});

// "gpu: 4 × NVIDIA H100" or "cpu: AMD EPYC × 2": the hardware part of a never-retry key.
std::string hardware();

// Accelerators that can be sampled here; 0 GPUs where NVML is absent. `why_not` gets the reason.
int gpu_count(std::string* why_not = nullptr);

}  // namespace amdahl::observe
