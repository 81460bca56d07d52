// local_times.h: whether an input's times say of which zone they are.
#pragma once

#include <string_view>

namespace amdahl::fleet {

// Whether most records of the first bytes of an input have a date and a time without a zone, as
// sacct and nvidia-smi write them.
bool has_local_times(std::string_view head);

}  // namespace amdahl::fleet
