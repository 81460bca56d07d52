// evidence.h: gathers what a model is told about a family, from its profile and the ledger.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "app/context.h"
#include "app/job_profile.h"
#include "base/json.h"
#include "base/result.h"
#include "brief/brief.h"
#include "ledger/ledger.h"
#include "model/profile.h"

namespace amdahl::app {

// Writes evidence.json into the folder of the profile's run and returns its SHA-256, which goes
// into the run's event. `profile` must have its id; `joined` has the other observations.
Result<std::string> write_evidence(Context& context, const ledger::Family& family,
                                   const model::Profile& profile, const JobProfile& joined);

struct Brief {
  Json packet;         // brief::packet(), with the digest of its evidence.
  std::string prompt;  // As sent to a model.
  std::int64_t tokens_estimated = 0;
};

// Reads the stored evidence if its digest is the ledger's. Otherwise (an older ledger, a cleared
// folder) it is computed again from the files of the run, and the packet has no digest.
// `experiment`: show only this claim; empty: all. kNotFound without a profile, or without a claim
// to attack.
Result<Brief> brief_on(Context& context, const std::string& family, brief::Role role,
                       const std::string& experiment = "");

}  // namespace amdahl::app
