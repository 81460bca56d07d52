// schema.h: validates a value against a JSON Schema.
#pragma once

#include <string>

#include "base/json.h"

namespace amdahl::mcp {

// "" if valid; else every error with its path: "/top: Value type not permitted ...".
std::string faults_of(const Json& value, const Json& schema);

}  // namespace amdahl::mcp
