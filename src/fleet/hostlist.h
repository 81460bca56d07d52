// hostlist.h: parses host lists of schedulers: "gpu[001-003,7],rack[1-2]n[0-9:3],login1".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::fleet {

// More than any cluster has; longer lists are damaged.
inline constexpr std::size_t kMostHosts = 1'000'000;

// All hosts, in list order. Brackets may be anywhere, several per name, and nested; "001-010"
// keeps leading zeros; ":2" or "/2" after a range is its step. Empty for "", "None assigned",
// "(null)" and "N/A".
Result<std::vector<std::string>> expand_hosts(std::string_view list, std::size_t most = kMostHosts);

// "0-3,7" as {0, 1, 2, 3, 7}: index lists of GRES. Empty for "N/A" and malformed lists.
std::vector<int> expand_indices(std::string_view list);

// "gpu1.cluster.example:9400" is "gpu1"; IP addresses only lose their port.
std::string_view short_host(std::string_view host);

// The same in lower case: two spellings of a name are one host.
std::string host_key(std::string_view host);

}  // namespace amdahl::fleet
