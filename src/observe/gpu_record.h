// gpu_record.h: what a job's GPUs held and drew while it ran, as lines of samples.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "observe/nvml.h"
#include "observe/proc.h"

namespace amdahl::observe {

// At most one row a second and GPU; when there are too many, every second one is left out and rows
// are half as frequent from there on. The format is in docs/format/gpus.md.
class GpuRecord {
 public:
  // `nvml` must outlive it.
  GpuRecord(const Nvml& nvml, std::vector<int> gpus);

  // `elapsed` since the job's start; `members`: the job's processes.
  void look(Nanos elapsed, std::span<const ProcessIdentity> members);
  // To the file, by rename; nothing if there are no GPUs.
  Result<> write(const std::string& path) const;

 private:
  std::string row_of(int gpu, Nanos elapsed, std::span<const ProcessIdentity> members) const;

  const Nvml& nvml_;
  std::vector<int> gpus_;
  std::vector<std::string> rows_;
  Nanos every_ = std::chrono::seconds(1);
  Nanos next_{};
};

}  // namespace amdahl::observe
