// gpus.h: summarises samples of a job's GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/classify.h"

namespace amdahl::profile {

struct GpuUse {
  int gpu = 0;
  std::string name;
  std::string uuid;
  int looks = 0;
  std::optional<std::int64_t> memory_total_bytes;
  std::optional<std::int64_t> memory_peak_bytes;  // All processes together.
  std::optional<double> power_w;                  // Mean over samples.
  int strangers = 0;                 // Processes outside the job, largest number at once.
  std::int64_t strangers_bytes = 0;  // Their memory, at most.
  std::int64_t stranger_pid = 0;     // One of them.
  int lost_looks = 0;                // Samples without utilisation.
  std::string trouble;               // Why they have none.

  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};

// Parses the supervisor's record (docs/format/gpus.md). Errors name the line.
Result<std::vector<GpuUse>> read_gpus(std::string_view lines);

Facts facts_of(const std::vector<GpuUse>& gpus);

// "GPU 0 (NVIDIA H100): memory at most 12.3 of 80 GB, 310 W on average, …".
std::string describe(const GpuUse& use);

}  // namespace amdahl::profile
