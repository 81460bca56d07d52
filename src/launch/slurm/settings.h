// settings.h: what a site says of its Slurm: [slurm] in the configuration.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace amdahl::launch::slurm {

struct Settings {
  std::string partition{};
  std::string account{};
  std::string qos{};
  std::string constraint{};
  std::string gres = "gpu";              // What an accelerator is, "gpu:a100"; empty: a CPU slot.
  bool exclusive = false;                // Whole nodes: all their accelerators are charged.
  int nice = 1000;                       // Behind the jobs of people.
  std::vector<std::string> options{};    // For sbatch, before our own: "--container-image=x".
  std::vector<std::string> wrap{};       // Before the worker: "apptainer", "exec", "--nv", "x.sif".
  std::vector<std::string> modules{};    // Loaded before the worker starts.
  std::vector<std::string> exported{};   // Variables that jobs get besides the pinned ones.
  int most_queued = 1;                   // Runs that wait while the cluster is full.
  Nanos poll = std::chrono::seconds(2);  // Slurm is asked at most so often.
  // A job that neither the queue nor accounting knows is absent after two looks so far apart.
  Nanos settle = std::chrono::seconds(61);
};

}  // namespace amdahl::launch::slurm
