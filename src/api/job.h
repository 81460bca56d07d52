// job.h: one run of a job and its spec, as JSON.
#pragma once

#include "app/compare_pair.h"
#include "app/fleet.h"
#include "app/run.h"
#include "base/json.h"

namespace amdahl::api {

Json run(const app::RunOutcome& outcome);
Json adopted(const app::Adopted& adopted);
Json compared(const app::CompareOutcome& outcome);

// Part of the above: the numbers, without the full facts of the rows. Unknown or unbounded values
// are null.
Json comparison(const compare::Account& account);

}  // namespace amdahl::api
