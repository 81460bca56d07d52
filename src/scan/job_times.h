// job_times.h: when a job began that only says when it ended, or how long it ran.
#pragma once

#include <optional>

#include "model/fleet.h"

namespace amdahl::scan {

// Fills in the start of a job that ran but does not say when it began. kDerivedStart: it was worked
// out. kNoStart: it has an end, but its start cannot be worked out, or it cannot be told whether it
// ran at all. Nothing: there is nothing to do; without a start the job never began.
std::optional<model::Trouble> mend_start(model::JobDraft& job);

}  // namespace amdahl::scan
