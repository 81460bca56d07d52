// tune.h: the result of tuning a command, as JSON.
#pragma once

#include "app/tune.h"
#include "base/json.h"

namespace amdahl::api {

Json tuned(const app::TuneOutcome& outcome);

}  // namespace amdahl::api
