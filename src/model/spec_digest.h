// spec_digest.h: what a spec was, small enough to be kept with every experiment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/plan.h"
#include "model/spec.h"

namespace amdahl::model {

// Field to a short digest, of the fields that are not as by default.
std::map<std::string, std::string> field_digests(const Spec& spec);

// The fields in which `now` differs from the spec of those digests, in words: {"metric direction"}.
std::vector<std::string> changed_fields(const std::map<std::string, std::string>& digests,
                                        const Spec& now);

// Names what was measured: a spec and the plan of its baseline. Noise and failures of another setup
// say nothing of this one.
std::string setup_of(const Spec& spec, const Plan& baseline);

}  // namespace amdahl::model
