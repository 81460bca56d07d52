// doctor_ledger.h: how the ledger is: its file, or its server with this machine's replica.
#pragma once

#include <vector>

#include "app/config.h"
#include "app/doctor.h"

namespace amdahl::app {

// Changes nothing, and does not wait for a server that is away.
std::vector<Symptom> examine_ledger(const Config& config);

}  // namespace amdahl::app
