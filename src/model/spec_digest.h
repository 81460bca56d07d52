// spec_digest.h: what a spec was, small enough to be kept with every experiment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/spec.h"

namespace amdahl::model {

// Field to a short digest, of the fields that are not as by default.
std::map<std::string, std::string> field_digests(const Spec& spec);

// The fields in which `now` differs from the spec of those digests, in words: {"metric direction"}.
std::vector<std::string> changed_fields(const std::map<std::string, std::string>& digests,
                                        const Spec& now);

}  // namespace amdahl::model
