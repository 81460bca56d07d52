// tools_act.h: tools that queue something, or start tests of what is queued.
#pragma once

#include "mcp/tool.h"

namespace amdahl::mcp {

Result<Json> propose_change(const Json& arguments, ToolCall& call);
Result<Json> adopt_job(const Json& arguments, ToolCall& call);
Result<Progress> adopt_progress(const Json& arguments, ToolCall& call);
Result<Json> run_experiments(const Json& arguments, ToolCall& call);
Result<Progress> run_progress(const Json& arguments, ToolCall& call);

}  // namespace amdahl::mcp
