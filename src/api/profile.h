// profile.h: profiles of jobs and traces as JSON.
#pragma once

#include <span>
#include <string>

#include "app/ceilings.h"
#include "app/evidence.h"
#include "app/job_profile.h"
#include "app/profile_command.h"
#include "app/profile_now.h"
#include "app/trace_profile.h"
#include "base/json.h"
#include "base/result.h"

namespace amdahl::api {

Json job_profile(const app::JobProfile& job);
// What a model is told about a family: docs/format/brief.md.
Json brief(const app::Brief& brief);
// Of `amdahl profile -- CMD`, with the results of --measure.
Json command_profile(const app::CommandProfile& done, std::span<const app::Ceiling> ceilings);
Json trace_diff(const profile::Diff& diff, bool failed);
Json traces(const app::TraceAnswer& answer);  // Without the segments of the path.

// A family's latest profile, from the ledger; kNotFound if there is none yet.
Result<Json> job_profile(app::Context& context, const std::string& family);

// Parts of the above.
Json gpu(const profile::GpuUse& use);
Json waits(const profile::WaitsReport& report);

}  // namespace amdahl::api
