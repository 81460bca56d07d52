// profile_now.h: profiles a family at once, outside the loop's turn.
#pragma once

#include <functional>
#include <string>

#include "app/context.h"
#include "app/reconcile.h"
#include "base/result.h"
#include "model/profile.h"

namespace amdahl::app {

// Takes the lease, runs the present baseline once with the hook, records the profile and what it
// suggests. kExternal with the cause if the run failed.
Result<model::Profile> profile_now(Context& context, const std::string& family, const Say& say,
                                   const std::function<bool()>& stopped);

}  // namespace amdahl::app
