// gpu_record.h: records memory, power and processes of a job's GPUs while it runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "observe/nvml.h"
#include "observe/proc.h"

namespace amdahl::observe {

// At most one row per second and GPU. When there are too many, every second row is dropped and the
// interval doubles. Format: docs/format/gpus.md.
class GpuRecord {
 public:
  // `nvml` must outlive it.
  GpuRecord(const Nvml& nvml, std::vector<int> gpus);

  // `elapsed` is relative to the job's start; `members` are the job's processes.
  void look(Nanos elapsed, std::span<const ProcessIdentity> members);
  // Writes the file atomically; does nothing without GPUs.
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
