// programs.h: runs Slurm's programs to get a cluster's jobs and nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/origin.h"
#include "os/http.h"
#include "scan/fleet_usage.h"

namespace amdahl::ingest {

// The output of one program, as a journal.
struct Program {
  std::string name;
  std::string_view says;
  std::string journal;
  std::uint64_t bytes = 0;
  std::string failed;  // Why there is no output; empty: success.
};

// Each program's output is a separate input. Fails if a required program failed.
Result<std::vector<Program>> ask_slurm(const Origin& source, const scan::Window& window, Nanos now,
                                       const os::Stop& stop);

}  // namespace amdahl::ingest
