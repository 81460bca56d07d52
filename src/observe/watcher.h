// watcher.h: samples a running job at an interval that keeps the overhead low.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/receipt.h"
#include "observe/nvml.h"
#include "observe/proc.h"
#include "observe/report.h"
#include "observe/timeline.h"
#include "observe/tree.h"

namespace amdahl::observe {

// CPU time of the calling thread.
Nanos own_cpu_time();

// Doubles the interval, up to one second, while sampling takes more than 0.5 % of the time; halves
// it, down to the initial one, below 0.1 %.
class SamplingInterval {
 public:
  explicit SamplingInterval(Nanos first) : first_{first}, interval_{first} {}
  Nanos interval() const { return interval_; }
  void note(Nanos elapsed, Nanos own_cpu);

 private:
  Nanos first_;
  Nanos interval_;
  Nanos last_elapsed_{};
  Nanos last_cpu_{};
};

// Without GPUs an accelerator is a CPU slot: the busy cores of the whole tree fill the slots in
// order, so the utilisation of slot k is max(0, min(1, cores - k)).
class Watcher {
 public:
  Watcher(Tree& tree, const Nvml& nvml, std::vector<int> gpus, int accelerators,
          std::string report_path);

  // `elapsed` is relative to the job's start; `reaped` is the CPU time of reaped descendants.
  void tick(Nanos elapsed, Nanos reaped);
  // Adds the last segment; `total` is the CPU time of all descendants.
  void finish(Nanos wall, Nanos total);

  std::int64_t resident_bytes() const { return last_.resident_bytes; }
  std::int64_t peak_resident_bytes() const { return peak_resident_; }
  std::int64_t peak_threads() const { return peak_threads_; }
  const std::vector<Growth>& growth() const { return growth_; }
  NoiseMeter& noise() { return noise_; }

  // The sampled utilisation, replaced by the job's own reports where it made them.
  model::Utilisation utilisation(Nanos wall, Nanos at_least,
                                 const std::vector<BusySpan>& reported) const;
  std::string accelerator_kind(const std::vector<BusySpan>& reported) const;

 private:
  void add(Nanos elapsed, Nanos total_cpu);
  void note_report(Nanos elapsed);

  Tree& tree_;
  const Nvml& nvml_;
  std::vector<int> gpus_;
  std::string report_path_;
  NoiseMeter noise_;
  std::vector<Timeline> accelerators_;
  std::vector<Growth> growth_;
  TreeSample last_;
  Nanos last_elapsed_{};
  Nanos last_cpu_{};
  Nanos next_noise_ = std::chrono::seconds(1);
  std::int64_t peak_resident_ = 0;
  std::int64_t peak_threads_ = 0;
};

}  // namespace amdahl::observe
