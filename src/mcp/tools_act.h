// tools_act.h: tools that put something into the queue, or let what is queued be tested.
#pragma once

#include "mcp/tool.h"

namespace amdahl::mcp {

Result<Json> propose_change(const Json& arguments, Desk& desk);
Result<Json> adopt_job(const Json& arguments, Desk& desk);
Result<Progress> adopt_progress(const Json& arguments, Desk& desk);
Result<Json> run_experiments(const Json& arguments, Desk& desk);
Result<Progress> run_progress(const Json& arguments, Desk& desk);

}  // namespace amdahl::mcp
