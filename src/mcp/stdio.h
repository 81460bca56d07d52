// stdio.h: a server on two file descriptors: one message a line, until the input ends.
#pragma once

#include "base/result.h"
#include "mcp/server.h"

namespace amdahl::mcp {

// Calls of tools are answered as they finish, so that one that waits holds up no other. Returns
// after the last answer; kExternal if the client no longer reads.
Result<> serve(Server& server, int in, int out);

}  // namespace amdahl::mcp
