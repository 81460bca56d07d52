#include "os/memory.h"

#include <algorithm>

#include <malloc.h>

#include "base/text.h"
#include "os/cgroup.h"
#include "os/files.h"

namespace amdahl::os {

std::uint64_t available_in(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  for (const std::string_view line : split(meminfo, '\n')) {
    if (!line.starts_with(kKey)) continue;
    const std::string_view rest = trim(line.substr(kKey.size()));
    return to_number<std::uint64_t>(rest.substr(0, rest.find(' '))).value_or(0) * 1024;
  }
  return 0;
}

std::uint64_t available_memory() {
  const auto meminfo = read_file("/proc/meminfo");
  const std::uint64_t free = meminfo ? available_in(*meminfo) : 0;
  const auto limit = static_cast<std::uint64_t>(own_cgroup_limits().memory_bytes);
  return free == 0 || limit == 0 ? std::max(free, limit) : std::min(free, limit);
}

void return_large_blocks() {
#if defined(__GLIBC__)
  // Setting it once fixes it: otherwise the library raises it to the largest freed block. Buffers
  // that are reused for each piece of a file are smaller.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace amdahl::os
