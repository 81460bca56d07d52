// sandbox.h: a client's command inside bubblewrap.
#pragma once

#include <string>
#include <vector>

#include "agent/client.h"

namespace amdahl::agent {

// Sees the system's programs and libraries and the order's folders, all read-only, an empty /tmp
// and its home. The network stays: the client must reach its server.
std::vector<std::string> sandboxed(const ClientOrder& order);

}  // namespace amdahl::agent
