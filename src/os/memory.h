// memory.h: available memory, and returning freed memory to the system.
#pragma once

#include <cstdint>
#include <string_view>

namespace amdahl::os {

// Bytes of "MemAvailable: 123 kB" in the text of /proc/meminfo; 0 if missing.
std::uint64_t available_in(std::string_view meminfo);

// Available memory of the machine, or the cgroup's limit if lower; 0: unknown.
std::uint64_t available_memory();

// From now on the C library returns large freed blocks to the system at once. Otherwise it keeps
// them, and the peaks of successive phases add up.
void return_large_blocks();

}  // namespace amdahl::os
