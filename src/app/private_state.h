// private_state.h: restricts the state folder to its owner.
#pragma once

#include <string>

#include "base/result.h"

namespace amdahl::app {

// Removes all permissions of others from a state folder and its ledger, which contain commands and
// logs of jobs. A folder that contains anything else (a home, /srv) is left alone; `amdahl doctor`
// reports it. Ok if it does not exist.
Result<> keep_private(const std::string& folder);

// Creates the state folder if needed and makes it private.
Result<> make_private_state(const std::string& folder);

}  // namespace amdahl::app
