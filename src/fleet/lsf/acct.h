// acct.h: one line of lsb.acct as a job.
#pragma once

#include <string_view>

#include "fleet/intake.h"

namespace amdahl::fleet::lsf {

// A line of any event; only JOB_FINISH is a job, the others say nothing of accelerator time.
void tell_event(std::string_view line, Where where, Intake& intake);

bool is_event(std::string_view line);

}  // namespace amdahl::fleet::lsf
