// fault.h: places where a test may have us die, so that it can see what a crash leaves.
#pragma once

#include <string_view>

namespace amdahl::os {

// Counts its calls; sends SIGKILL, or AMDAHL_FAULT_SIGNAL, at the call numbered AMDAHL_FAULT_AT
// (and, if AMDAHL_FAULT_POINT is set, counts only that point's). Costs one compare when unset.
void fault_point(std::string_view name);

}  // namespace amdahl::os
