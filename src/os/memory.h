// memory.h: how much memory this process may still take, and how it gives it back.
#pragma once

#include <cstdint>
#include <string_view>

namespace amdahl::os {

// The bytes of "MemAvailable: 123 kB" in the text of /proc/meminfo; 0 if it is not there.
std::uint64_t available_in(std::string_view meminfo);

// What the machine has to give, or the limit of the control group if that is less; 0 if neither is
// to be seen.
std::uint64_t available_memory();

// From now on large blocks go back to the system as soon as they are freed. Else the C library
// keeps them for later, and what one phase took adds to what the next one takes.
void return_large_blocks();

}  // namespace amdahl::os
