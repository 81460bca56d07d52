// grant.h: parses what a person allows agents to spend.
#pragma once

#include <string>

#include "base/result.h"
#include "mcp/runner.h"

namespace amdahl::cli {

// "30m", "2ah", "$5"; empty leaves the grant unchanged.
Result<> set_grant(const std::string& budget, mcp::Grant& grant);

}  // namespace amdahl::cli
