// settings.h: a site's Slurm settings: [slurm] in the configuration.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace amdahl::launch::slurm {

// A job gets so much memory above what its spec allows the arms.
inline constexpr double kWorkerMb = 256;

struct Settings {
  std::string partition{};
  std::string account{};
  std::string qos{};
  std::string constraint{};
  std::string gres = "gpu";  // Resource for one accelerator, "gpu:a100"; empty: a CPU slot.
  bool exclusive = false;    // Whole nodes: all their accelerators are charged.
  int nice = 1000;           // Lower priority than users' jobs.
  std::vector<std::string> options{};  // For sbatch, before our own: "--container-image=x".
  std::vector<std::string> wrap{};  // Prefix of the worker: "apptainer", "exec", "--nv", "x.sif".
  std::vector<std::string> modules{};    // Loaded before the worker starts.
  std::vector<std::string> exported{};   // Variables passed to jobs besides the pinned ones.
  int most_queued = 1;                   // Queued runs while the cluster is full.
  Nanos poll = std::chrono::seconds(2);  // Minimum interval between queries.
  // A job unknown to queue and accounting is absent after two queries this far apart.
  Nanos settle = std::chrono::seconds(61);
};

}  // namespace amdahl::launch::slurm
