// tools_read.h: tools that read and change nothing.
#pragma once

#include "mcp/tool.h"

namespace amdahl::mcp {

Result<Json> rank_fleet(const Json& arguments, ToolCall& call);
Result<Json> job_anatomy(const Json& arguments, ToolCall& call);
Result<Json> evidence_packet(const Json& arguments, ToolCall& call);
Result<Json> query_profile(const Json& arguments, ToolCall& call);
Result<Json> code_findings(const Json& arguments, ToolCall& call);
Result<Json> search_ledger(const Json& arguments, ToolCall& call);
Result<Json> experiment_status(const Json& arguments, ToolCall& call);
Result<Json> loop_status(const Json& arguments, ToolCall& call);
Result<Json> read_spec(const Json& arguments, ToolCall& call);

}  // namespace amdahl::mcp
