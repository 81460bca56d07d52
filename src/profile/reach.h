// reach.h: what of a cause a fix can be expected to reach.
#pragma once

#include "model/profile.h"

namespace amdahl::profile {

// Evidence: imports of installed packages that the run needs. Hardly any fix removes them, so that
// they are no part of any cause.
inline constexpr const char* kNeededImports = "needed_import_share";
// Evidence: imports that were found to be for nothing.
inline constexpr const char* kNeedlessImports = "needless_import_share";

// The speed-up of the run as it was without the cause; the ceiling is what no fix exceeds.
double expected_gain(const model::Cause& cause);

}  // namespace amdahl::profile
