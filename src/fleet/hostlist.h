// hostlist.h: lists of hosts as schedulers write them: "gpu[001-003,7],rack[1-2]n[0-9:3],login1".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace amdahl::fleet {

// More than any cluster has; what claims more is damaged.
inline constexpr std::size_t kMostHosts = 1'000'000;

// All hosts, in the order of the list. Brackets may stand anywhere, several in a name and inside
// one another; "001-010" keeps its zeros; ":2" or "/2" after a range is its step. Empty for "",
// "None assigned", "(null)" and "N/A".
Result<std::vector<std::string>> expand_hosts(std::string_view list, std::size_t most = kMostHosts);

// "0-3,7" as {0, 1, 2, 3, 7}: the index lists of GRES. Nothing for "N/A" and what is no list.
std::vector<int> expand_indices(std::string_view list);

// "gpu1.cluster.example:9400" is "gpu1"; addresses are left as they are, but for the port.
std::string_view short_host(std::string_view host);

// The same in small letters: two spellings of a host's name are one host.
std::string host_key(std::string_view host);

}  // namespace amdahl::fleet
