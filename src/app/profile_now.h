// profile_now.h: profiles a family immediately, outside a cycle.
#pragma once

#include <functional>
#include <string>

#include "app/context.h"
#include "app/job_profile.h"
#include "app/reconcile.h"
#include "base/result.h"
#include "model/profile.h"

namespace amdahl::app {

// Takes the lease, runs the current baseline once with the hook, records the profile and the ideas
// from it. kExternal with the cause if the run failed.
Result<model::Profile> profile_now(Context& context, const std::string& family, const Say& say,
                                   const std::function<bool()>& stopped);

// The same, joined with the lines behind it.
Result<JobProfile> profile_family(Context& context, const std::string& family, const Say& say,
                                  const std::function<bool()>& stopped);
// The last recorded one, likewise; kNotFound if there is none.
Result<JobProfile> latest_profile(Context& context, const std::string& family);

}  // namespace amdahl::app
