// lsf.h: reads jobs of LSF: lsb.acct, and what bhist -l, bjobs -l and bacct -l print.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::lsf {

// "JOB_FINISH" "10.1" 1700003660 12 ..., or Job <12>, Job Name <train>, User <ada>, ...
bool claims(std::string_view head);

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::lsf
