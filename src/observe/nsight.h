// nsight.h: a command inside NVIDIA's profilers, with the flags that our readers need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::observe {

struct Nsight {
  std::vector<std::string> argv;
  std::string output;  // The file it leaves for our readers.
};

// Whole timeline: kernels, copies, API calls, NVTX; as SQLite in `folder`/nsys.sqlite. The tool
// must be on PATH; kUnsupported says where to get it.
Result<Nsight> in_nsys(const std::vector<std::string>& command, const std::string& folder);

// What bounds single kernels: the details page of the first `launches`, in `folder`/ncu.csv. Every
// kernel is run several times over, so the job's own times are no measurement.
Result<Nsight> in_ncu(const std::vector<std::string>& command, const std::string& folder,
                      int launches = 100);

// After the run: why there is nothing in what it left, in its own words if it has some; empty if
// there is.
std::string trouble_of(const Nsight& tool);

}  // namespace amdahl::observe
