// programs.h: asks the programs of Slurm what a scan wants to know of a cluster.
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

// What a program of Slurm said, as a journal.
struct Program {
  std::string name;
  std::string_view says;
  std::string journal;
  std::uint64_t bytes = 0;
  std::string failed;  // Why it said nothing; empty: it did.
};

// Each program's output is an input of its own. An error if one failed that a scan cannot do
// without.
Result<std::vector<Program>> ask_slurm(const Origin& source, const scan::Window& window, Nanos now,
                                       const os::Stop& stop);

}  // namespace amdahl::ingest
