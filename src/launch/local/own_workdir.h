// own_workdir.h: a working folder for one run in a sandbox.
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

}  // namespace amdahl::launch::local
