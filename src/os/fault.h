// fault.h: named points at which a test can kill this process, to see what a crash leaves behind.
#pragma once

#include <string_view>

namespace amdahl::os {

// Counts calls and sends SIGKILL (or AMDAHL_FAULT_SIGNAL) at call number AMDAHL_FAULT_AT. With
// AMDAHL_FAULT_POINT, only calls of that point count. Costs one comparison if unset.
void fault_point(std::string_view name);

}  // namespace amdahl::os
