// job_times.h: derives the start of a job from its end and elapsed time.
#pragma once

#include <optional>

#include "model/fleet.h"

namespace amdahl::scan {

// Fills in the missing start of a job that ran. kDerivedStart: derived. kNoStart: it has an end,
// but its start cannot be derived, or it is unknown whether it ran. Nothing: no change needed;
// without a start the job never ran.
std::optional<model::Trouble> mend_start(model::JobDraft& job);

}  // namespace amdahl::scan
