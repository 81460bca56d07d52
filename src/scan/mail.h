// mail.h: a text for each user about their own waste, and how to see it.
#pragma once

#include <string>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::scan {

struct Mail {
  std::string user;
  std::string file;  // "u1.txt": fit for any file system, and no two users share one.
  std::string text;  // A subject line, an empty line, and the body.
};

// For users who wasted an accelerator-hour or more, by name. `scan`: the command that reads these
// inputs again. Jobs without a user are nobody's.
std::vector<Mail> mails_of(const FleetUsage& usage, const Report& report, const std::string& scan);

}  // namespace amdahl::scan
