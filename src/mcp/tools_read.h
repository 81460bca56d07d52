// tools_read.h: tools that read and change nothing.
#pragma once

#include "mcp/tool.h"

namespace amdahl::mcp {

Result<Json> rank_fleet(const Json& arguments, Desk& desk);
Result<Json> job_anatomy(const Json& arguments, Desk& desk);
Result<Json> evidence_packet(const Json& arguments, Desk& desk);
Result<Json> query_profile(const Json& arguments, Desk& desk);
Result<Json> code_findings(const Json& arguments, Desk& desk);
Result<Json> search_ledger(const Json& arguments, Desk& desk);
Result<Json> experiment_status(const Json& arguments, Desk& desk);
Result<Json> loop_status(const Json& arguments, Desk& desk);
Result<Json> read_spec(const Json& arguments, Desk& desk);

}  // namespace amdahl::mcp
