// spec_digest.h: a spec as digests, small enough to store with every experiment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/plan.h"
#include "model/spec.h"

namespace amdahl::model {

// Field name to a short digest, for the fields that differ from their defaults.
std::map<std::string, std::string> field_digests(const Spec& spec);

// The fields in which `now` differs from those digests, for people: {"metric direction"}.
std::vector<std::string> changed_fields(const std::map<std::string, std::string>& digests,
                                        const Spec& now);

// Identifies what was measured: a spec and its baseline's plan. Noise and failures of another
// setup do not apply to this one.
std::string setup_of(const Spec& spec, const Plan& baseline);

}  // namespace amdahl::model
