// grant.h: what a person lets agents spend, from what was typed.
#pragma once

#include <string>

#include "base/result.h"
#include "mcp/runner.h"

namespace amdahl::cli {

// "30m", "2ah", "$5"; empty leaves the grant as it is.
Result<> set_grant(const std::string& budget, mcp::Grant& grant);

}  // namespace amdahl::cli
