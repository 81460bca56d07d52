// tuned.h: what a person takes away from a tuned family: the changes, and the files to commit.
#pragma once

#include "app/context.h"
#include "app/tune.h"
#include "base/result.h"

namespace amdahl::app {

// Fills in the outcome's changes, what was tried, the ceiling and the files, from the ledger; and
// writes the files to STATE/tuned/FAMILY: tuned.patch (for git apply), overlay.toml, env.sh, run.sh
// and, for injections, the hook that run.sh starts the job with.
Result<> collect_tuned(Context& context, TuneOutcome& outcome);

}  // namespace amdahl::app
