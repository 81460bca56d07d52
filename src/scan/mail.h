// mail.h: a mail to each user about their own waste.
#pragma once

#include <string>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::scan {

struct Mail {
  std::string user;
  std::string file;  // "u1.txt": valid on any file system, unique per user.
  std::string text;  // Subject line, empty line, body.
};

// For users who wasted at least one accelerator-hour, by name. `scan`: the command that reads
// these inputs again. Jobs without a user are skipped.
std::vector<Mail> mails_of(const FleetUsage& usage, const Report& report, const std::string& scan);

}  // namespace amdahl::scan
