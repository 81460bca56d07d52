// job.h: one run of a job and its spec, as JSON.
#pragma once

#include "app/fleet.h"
#include "app/run.h"
#include "app/compare_pair.h"
#include "base/json.h"

namespace amdahl::api {

Json run(const app::RunOutcome& outcome);
Json adopted(const app::Adopted& adopted);
Json compared(const app::CompareOutcome& outcome);

}  // namespace amdahl::api
