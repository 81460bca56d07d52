// local_times.h: whether the times of an input state their zone.
#pragma once

#include <string_view>

namespace amdahl::fleet {

// Whether most records in the first bytes have dates and times without a zone, as from sacct and
// nvidia-smi.
bool has_local_times(std::string_view head);

}  // namespace amdahl::fleet
