// nsight.h: wraps a command in NVIDIA's profilers, with the flags that our readers need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::observe {

struct Nsight {
  std::vector<std::string> argv;
  std::string output;  // File for our readers.
};

// Full timeline (kernels, copies, API calls, NVTX) as SQLite in `folder`/nsys.sqlite.
// kUnsupported, with where to get it, if the tool is not on PATH.
Result<Nsight> in_nsys(const std::vector<std::string>& command, const std::string& folder);

// What limits single kernels: the details page of the first `launches`, in `folder`/ncu.csv. Every
// kernel is replayed several times, so the job's own times are meaningless.
Result<Nsight> in_ncu(const std::vector<std::string>& command, const std::string& folder,
                      int launches = 100);

// After the run: why the output is empty, in the tool's own words if possible; empty if it is not.
std::string trouble_of(const Nsight& tool);

}  // namespace amdahl::observe
