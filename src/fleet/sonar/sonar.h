// sonar.h: reads the key=value CSV that NordicHPC's sonar makes from sacct (Jobanalyzer archives).
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::sonar {

bool claims(std::string_view head);  // "v=0.1.0,JobID=1639021,JobIDRaw=1639021,..."

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::sonar
