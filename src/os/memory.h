// memory.h: how much memory this process may still take.
#pragma once

#include <cstdint>
#include <string_view>

namespace amdahl::os {

// The bytes of "MemAvailable: 123 kB" in the text of /proc/meminfo; 0 if it is not there.
std::uint64_t available_in(std::string_view meminfo);

// What the machine has to give, or the limit of the control group if that is less; 0 if neither is
// to be seen.
std::uint64_t available_memory();

}  // namespace amdahl::os
