// past_job.h: finds out how a job that Slurm ran was submitted.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::launch::slurm {

struct PastJob {
  std::string id;
  std::string name;
  std::string user;
  std::string state;    // "COMPLETED".
  std::string workdir;  // Where it was submitted.
  Nanos start{};        // Unix time.
  Nanos end{};
  int nodes = 1;
  int tasks_per_node = 1;  // As its script asks.
  int cpus = 1;            // These three on all nodes together.
  int gpus = 0;
  double memory_mb = 0;  // 0: accounting does not say.
  std::string partition;
  bool in_default = false;  // The partition that jobs get which name none.
  std::string script;       // Its batch script.
};

// Of sacct's fields `kPastFormat`, one job; `script` stays empty. kBadInput if they are not of a
// job that has ended.
extern const std::string kPastFormat;
Result<PastJob> parse_past_job(std::string_view text, const std::string& id);

// What the #SBATCH lines of a script on so many nodes say of tasks: for each node, rounded up.
int tasks_per_node_in(std::string_view script, int nodes);

// Asks accounting for the job, and accounting or the controller for its script. kNotFound if it is
// not known, kBadInput with what to do if it has no batch script.
Result<PastJob> past_job(const std::string& id);

}  // namespace amdahl::launch::slurm
