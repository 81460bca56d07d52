// origin.h: one thing that a scan reads, as typed after --source or as configured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::ingest {

struct Origin {
  std::string kind{};   // "prometheus", "slurm" or a row of fleet::sources(); empty: recognised.
  std::string where{};  // An address, a path, a glob, "-"; of a live slurm the cluster, or empty.
  // Of a server: secrets by the name of a variable or a file, never themselves.
  std::string token_env{};
  std::string token_file{};
  std::string user{};
  std::string password_env{};
  std::string password_file{};
  std::vector<std::string> headers{};  // "X-Scope-OrgID: team"; "Name: $VARIABLE" takes a variable.
  std::string metric{};                // Only this one; empty: the best there is.
  Nanos step{};                        // Between points; 0: as often as the server scrapes.
  double limit_s = 120;                // For one answer.
  int parallel = 4;                    // Requests at once.
  // Of files.
  std::string fields{};     // Of sacct without a header.
  std::string map{};        // File with a mapping of CSV columns.
  std::string time_zone{};  // Of times without one.
  std::string host{};       // Whose nvidia-smi it is.
};

bool is_live(const Origin& source);  // A server or a program is asked, no file is read.

// "prometheus=http://host:9090", "slurm", "slurm=CLUSTER", "csv=usage.csv.gz", "nvidia-smi=-"; or
// the path or glob of what is to be recognised.
Result<Origin> parse_origin(std::string_view typed);

// For people, without secrets: "prometheus http://host:9090".
std::string describe(const Origin& source);

}  // namespace amdahl::ingest
