// own_workdir.h: keeps what one run leaves in its working folder from the next.
#pragma once

#include <string>

#include "base/result.h"
#include "model/spec.h"

namespace amdahl::launch::local {

// Whether the job writes an output beside its code: relative to its working folder.
bool writes_beside_code(const model::Spec& spec);

// Copies a working folder to `copy`, so that nothing that one run leaves there is found by the
// next. Links stay links. Fails if there is more to copy than `most_gib`.
Result<> copy_workdir(const std::string& workdir, const std::string& copy, int most_gib);

// Where it is listed what runs of the family left in that working folder: see
// observe::RunOrder::results_list.
std::string results_list_of(const std::string& state_dir, const model::Spec& spec);

}  // namespace amdahl::launch::local
