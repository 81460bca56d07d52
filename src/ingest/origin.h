// origin.h: one input of a scan, as typed after --source or as configured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::ingest {

struct Origin {
  std::string kind{};   // "prometheus", "slurm" or a row of fleet::sources(); empty: detect.
  std::string where{};  // Address, path, glob or "-"; for live slurm the cluster, or empty.
  // Servers. Secrets are given by the name of a variable or file, never directly.
  std::string token_env{};
  std::string token_file{};
  std::string user{};
  std::string password_env{};
  std::string password_file{};
  std::vector<std::string> headers{};  // "X-Scope-OrgID: team"; "Name: $VARIABLE" reads a variable.
  std::string metric{};                // Only this metric; empty: the best available.
  Nanos step{};                        // Between points; 0: the server's scrape interval.
  double limit_s = 120;                // Timeout per answer.
  int parallel = 4;                    // Concurrent requests.
  // Files.
  std::string fields{};     // Columns of sacct output without a header.
  std::string map{};        // File that maps CSV columns.
  std::string time_zone{};  // For times without a zone.
  std::string host{};       // Host of nvidia-smi output.
};

bool is_live(const Origin& source);  // A server or program, not a file.

// "prometheus=http://host:9090", "slurm", "slurm=CLUSTER", "csv=usage.csv.gz", "nvidia-smi=-"; or
// a path or glob whose format is detected.
Result<Origin> parse_origin(std::string_view typed);

// For people, without secrets: "prometheus http://host:9090".
std::string describe(const Origin& source);

}  // namespace amdahl::ingest
