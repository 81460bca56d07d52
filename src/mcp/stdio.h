// stdio.h: a server on two file descriptors: one message per line, until end of input.
#pragma once

#include "base/result.h"
#include "mcp/server.h"

namespace amdahl::mcp {

// Tool calls are answered as they finish, so a waiting one blocks no other. Returns after the last
// answer; kExternal if the client stopped reading.
Result<> serve(Server& server, int in, int out);

}  // namespace amdahl::mcp
