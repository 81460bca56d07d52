// private_state.h: the state folder, for its owner alone.
#pragma once

#include <string>

#include "base/result.h"

namespace amdahl::app {

// Takes the rights of others away from a state folder and its ledger, which hold the commands and
// logs of jobs. A folder that holds anything else (a home, /srv) stays as it is; `amdahl doctor`
// names it. Ok if there is none.
Result<> keep_private(const std::string& folder);

// Makes the state folder if there is none, and keeps it private.
Result<> make_private_state(const std::string& folder);

}  // namespace amdahl::app
